//! [`Envelope`]: what is stored in place of the arguments of a signed or encrypted job.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The reserved member of the object.
pub(crate) const MEMBER: &str = "$ratchet";
/// How an envelope begins. Only this exact form is an envelope.
const START: &[u8] = b"{\"$ratchet\":";
const VERSION: u32 = 1;

/// What is stored in place of arguments: `{"$ratchet":{"v":1,"sign":"<key>:<base64>","args":{…}}}`, or with
/// `"seal":"<key>:<base64>"` in place of `args`.
///
/// ```
/// use ratchet_keyring::{Content, Envelope};
///
/// let stored = br#"{"$ratchet":{"v":1,"sign":"s1:AAAA","args":{"to":"x"}}}"#;
/// let envelope = Envelope::parse(stored)?.expect("an envelope");
/// assert_eq!(envelope.signature.as_deref(), Some("s1:AAAA"));
/// assert!(matches!(envelope.content, Content::Plain(r#"{"to":"x"}"#)));
/// assert_eq!(envelope.to_json().as_bytes(), stored);
/// assert!(Envelope::parse(br#"{"to":"x"}"#)?.is_none());
/// # Ok::<(), ratchet_keyring::MalformedEnvelope>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The signature, if there is one.
    pub signature: Option<Cow<'a, str>>,
    /// The arguments.
    pub content: Content<'a>,
}

/// The arguments in an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// The arguments as JSON.
    Plain(&'a str),
    /// The sealed arguments.
    Sealed(Cow<'a, str>),
}

/// The error returned for a value that begins like an envelope and is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored envelope is malformed: {0}")]
pub struct MalformedEnvelope(String);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Outer<'a> {
    #[serde(rename = "$ratchet", borrow)]
    inner: Inner<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner<'a> {
    v: u32,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sign: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    seal: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    args: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Returns `true` if a value begins like an envelope. Such arguments must not be submitted.
    pub fn is_reserved(stored: &[u8]) -> bool {
        stored.starts_with(START)
    }

    /// Reads an envelope. Returns `None` if the value is not one.
    pub fn parse(stored: &'a [u8]) -> Result<Option<Self>, MalformedEnvelope> {
        if !Self::is_reserved(stored) {
            return Ok(None);
        }
        let malformed = |why: &str| MalformedEnvelope(why.to_owned());
        let outer: Outer<'a> = serde_json::from_slice(stored).map_err(|error| {
            // The text of serde may quote the content.
            MalformedEnvelope(format!("line {}, column {}", error.line(), error.column()))
        })?;
        let Inner { v, sign, seal, args } = outer.inner;
        if v != VERSION {
            return Err(malformed("its version is not known"));
        }
        let content = match (seal, args) {
            (Some(sealed), None) => Content::Sealed(sealed),
            (None, Some(args)) => Content::Plain(args.get()),
            _ => return Err(malformed("it must have either `args` or `seal`")),
        };
        Ok(Some(Self { signature: sign, content }))
    }

    /// Writes the envelope. Plain arguments must be JSON.
    pub fn to_json(&self) -> String {
        // Written by hand: the content was checked before, and an encoder would check it again.
        let mut json = format!("{{\"{MEMBER}\":{{\"v\":{VERSION}");
        let mut put = |name: &str, text: &str| {
            // Key ids and base64 need no escapes.
            json.push_str(",\"");
            json.push_str(name);
            json.push_str("\":\"");
            json.push_str(text);
            json.push('"');
        };
        if let Some(signature) = &self.signature {
            put("sign", signature);
        }
        match &self.content {
            Content::Sealed(sealed) => put("seal", sealed),
            Content::Plain(args) => {
                json.push_str(",\"args\":");
                json.push_str(args);
            }
        }
        json.push_str("}}");
        json
    }

    /// Returns the bytes that an envelope adds to plain arguments that are signed with a key whose id has this length.
    pub const fn signature_overhead(id: usize) -> usize {
        // `{"$ratchet":{"v":1`, `,"sign":"`, id, `:`, 43 characters of base64, `"`, `,"args":`, `}}`
        18 + 9 + id + 1 + 43 + 1 + 8 + 2
    }
}
