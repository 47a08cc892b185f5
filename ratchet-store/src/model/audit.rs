//! The audit trail: who changed what, when, from where and why.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The maximum length of each text of an [`Actor`], in bytes.
pub const ACTOR_TEXT: usize = 2000;

/// Who makes a change, by which front end, from where, and why.
///
/// ```
/// # use ratchet_store::model::Actor;
/// let actor = Actor::new("ada@example.com").via("cli").reason("the mail server is back");
/// assert_eq!(actor.to_string(), "ada@example.com (cli)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Actor {
    /// The name of a person or a program.
    pub name: String,
    /// The front end: `code`, `cli`, `web` or another name.
    pub via: String,
    /// The network address or host from which the change was requested.
    pub address: Option<String>,
    /// Why the change is made.
    pub reason: Option<String>,
}

impl Actor {
    /// Creates an actor that acts from code of the application. Each text is limited to [`ACTOR_TEXT`] bytes, and loses
    /// its control characters.
    pub fn new(name: impl AsRef<str>) -> Self {
        Self { name: text(name.as_ref()), via: "code".to_owned(), address: None, reason: None }
    }

    /// Sets the front end.
    #[must_use]
    pub fn via(mut self, via: impl AsRef<str>) -> Self {
        self.via = text(via.as_ref());
        self
    }

    /// Sets the address from which the change was requested.
    #[must_use]
    pub fn address(mut self, address: impl AsRef<str>) -> Self {
        self.address = Some(text(address.as_ref()));
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn reason(mut self, reason: impl AsRef<str>) -> Self {
        self.reason = Some(text(reason.as_ref()));
        self
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.via)
    }
}

/// Returns a text that every store can keep, and that a terminal can show.
fn text(given: &str) -> String {
    let kept = &given[..given.floor_char_boundary(ACTOR_TEXT)];
    kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What is recorded about a change, in addition to what the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
    /// Who makes the change.
    pub actor: Actor,
    /// The name of the operation, such as `jobs.retry`.
    pub verb: String,
    /// Signs the entry, if the engine has a key.
    pub signer: Option<AuditSigner>,
}

impl AuditNote {
    /// Creates a note whose entry is not signed.
    pub fn new(actor: Actor, verb: impl Into<String>) -> Self {
        Self { actor, verb: verb.into(), signer: None }
    }
}

/// Signs the hash of an entry. The engine has the key; a store only calls it.
#[derive(Clone)]
pub struct AuditSigner(Arc<dyn Fn(AuditHash) -> Option<String> + Send + Sync>);

impl AuditSigner {
    /// Creates a signer. It returns `None` if it has no key.
    pub fn new(sign: impl Fn(AuditHash) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(sign))
    }

    /// Returns the signature of a hash.
    pub fn sign(&self, hash: AuditHash) -> Option<String> {
        (self.0)(hash)
    }
}

impl fmt::Debug for AuditSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditSigner").finish_non_exhaustive()
    }
}

impl PartialEq for AuditSigner {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AuditSigner {}

/// The SHA-256 of an entry of the audit trail and all entries before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// The hash before the first entry.
    pub const START: Self = Self([0; 32]);
}

impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for AuditHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An entry of the audit trail. It is committed together with the change that it describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The position in the trail, from 1 and without gaps.
    pub number: u64,
    /// When the change was made, by the store's clock.
    pub at: Timestamp,
    /// Who made it.
    #[serde(flatten)]
    pub actor: Actor,
    /// The name of the operation, such as `jobs.retry`.
    pub verb: String,
    /// What was changed, such as `job 0199…` or `queue mail`.
    pub target: String,
    /// The target before the change, as JSON; `None` if it did not exist.
    pub before: Option<String>,
    /// The target after the change, as JSON; `None` if it no longer exists.
    pub after: Option<String>,
    /// The hash of this entry and all entries before it.
    pub hash: AuditHash,
    /// The signature of the hash, if the engine that made the change had a key to sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl AuditRecord {
    /// Creates an entry as it was stored. A new entry is created by [`rules::audit::entry`](crate::rules::audit::entry).
    #[allow(clippy::too_many_arguments, reason = "the columns of a stored row")]
    pub fn stored(
        number: u64,
        at: Timestamp,
        actor: Actor,
        verb: String,
        target: String,
        before: Option<String>,
        after: Option<String>,
        hash: AuditHash,
        signature: Option<String>,
    ) -> Self {
        Self { number, at, actor, verb, target, before, after, hash, signature }
    }
}

/// The end of the audit trail. It is kept apart from the entries, so that a missing last entry is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    /// The number of the last entry; 0 if there is none.
    pub number: u64,
    /// The hash of the last entry.
    pub hash: AuditHash,
}

impl Default for AuditHead {
    fn default() -> Self {
        Self { number: 0, hash: AuditHash::START }
    }
}

/// Which entries of the audit trail to list. An absent condition matches every entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The name of the actor.
    pub actor: Option<String>,
    /// The name of the operation.
    pub verb: Option<String>,
    /// The target, as in [`AuditRecord::target`].
    pub target: Option<String>,
}

impl AuditFilter {
    /// Returns whether an entry matches.
    pub fn matches(&self, entry: &AuditRecord) -> bool {
        let is = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|it| it == is);
        is(&self.actor, &entry.actor.name)
            && is(&self.verb, &entry.verb)
            && is(&self.target, &entry.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_an_actor_are_bounded_and_printable() {
        let actor = Actor::new("é".repeat(ACTOR_TEXT)).reason("a\0b\r\n\u{1b}[31m");
        assert_eq!(actor.name.len(), ACTOR_TEXT);
        assert_eq!(actor.reason.as_deref(), Some("a b   [31m"));
    }
}
