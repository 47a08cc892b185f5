//! Sanitizes error messages before they are stored or published: removes secrets and limits the length.

use std::error::Error;
use std::fmt;

/// An error before it is sanitized and stored.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; }
/// use ratchet::failure::{DefaultSanitizer, ErrorSanitizer, RawError};
///
/// /// Stores no messages of errors of the operating system, which contain paths.
/// #[derive(Debug)]
/// struct WithoutPaths;
///
/// impl ErrorSanitizer for WithoutPaths {
///     fn sanitize(&self, error: &RawError<'_>) -> String {
///         match error.error {
///             Some(inner) if inner.is::<std::io::Error>() => error.error_type.to_owned(),
///             _ => DefaultSanitizer::default().sanitize(error),
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RawError<'a> {
    /// The name of the error's type.
    pub error_type: &'a str,
    /// The messages of the whole source chain.
    pub message: &'a str,
    /// The error itself; `None` for panics and refusals.
    pub error: Option<&'a (dyn Error + 'static)>,
}

/// Removes confidential parts of error messages and of other texts of handlers.
///
/// Called before a message is stored or published. Must be fast and must not block.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as failure}; pub use ratchet_memory::MemoryStore; }
/// use ratchet::failure::{DefaultSanitizer, ErrorSanitizer, RawError};
///
/// /// Removes account numbers, and what the default removes.
/// #[derive(Debug)]
/// struct WithoutAccounts;
///
/// impl ErrorSanitizer for WithoutAccounts {
///     fn sanitize(&self, error: &RawError<'_>) -> String {
///         let clean = DefaultSanitizer::default().clean(error.message);
///         clean.split(' ').filter(|word| !word.starts_with("AT61")).collect::<Vec<_>>().join(" ")
///     }
/// }
/// # use ratchet::{MemoryStore, Ratchet};
/// let builder = Ratchet::builder(MemoryStore::new()).sanitizer(WithoutAccounts);
/// # drop(builder);
/// ```
pub trait ErrorSanitizer: Send + Sync + fmt::Debug + 'static {
    /// Returns the message to store. The name of the error type is stored separately.
    fn sanitize(&self, error: &RawError<'_>) -> String;

    /// Returns the text to store for a text that a handler has written: a log line, a progress message or a warning.
    ///
    /// Unless it is implemented, removes what the [`DefaultSanitizer`] removes, without a limit on the length.
    fn sanitize_text(&self, text: &str) -> String {
        DefaultSanitizer { max_len: usize::MAX }.clean(text)
    }
}

/// Removes credentials in URLs, email addresses, bearer tokens and `key=secret` pairs, and limits the length.
///
/// Makes one pass over the text, in linear time.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; }
/// use ratchet::failure::DefaultSanitizer;
///
/// let clean = DefaultSanitizer::default().clean("cannot reach postgres://admin:s3cret@db.internal/prod");
/// assert_eq!(clean, "cannot reach postgres://[REDACTED]@db.internal/prod");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DefaultSanitizer {
    /// The maximum length of a message, in bytes. Messages are truncated at a character boundary.
    pub max_len: usize,
}

impl Default for DefaultSanitizer {
    fn default() -> Self {
        Self { max_len: 2000 }
    }
}

impl ErrorSanitizer for DefaultSanitizer {
    fn sanitize(&self, error: &RawError<'_>) -> String {
        self.clean(error.message)
    }
}

const REDACTED: &str = "[REDACTED]";

impl DefaultSanitizer {
    /// Returns the text without secrets, truncated to `max_len` bytes.
    pub fn clean(&self, text: &str) -> String {
        let mut scan = Scan {
            text,
            at: 0,
            out: String::with_capacity(text.len().min(self.max_len.saturating_mul(2))),
        };
        // Stops soon after the limit. The last step may exceed it, so that the cut does not fall into a secret.
        while scan.at < text.len() && scan.out.len() <= self.max_len {
            scan.step();
        }
        let mut out = scan.out.replace('\0', "");
        if out.len() > self.max_len {
            out.truncate(out.floor_char_boundary(self.max_len.saturating_sub('…'.len_utf8())));
            out.push('…');
        }
        out
    }
}

/// The position in the text, and the output so far.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Copies or replaces one word or one other character.
    fn step(&mut self) {
        let rest = self.rest();
        if let Some(rest) = rest.strip_prefix("://") {
            self.url(rest);
        } else if rest.starts_with('@') {
            self.email();
        } else {
            let word = word(rest);
            if word.is_empty() {
                self.copy(rest.chars().next().map_or(0, char::len_utf8));
            } else {
                self.word(word);
            }
        }
    }

    fn copy(&mut self, len: usize) {
        self.out.push_str(&self.rest()[..len]);
        self.at += len;
    }

    /// Redacts everything before the `@` in `://user:password@host`.
    fn url(&mut self, rest: &str) {
        // The search stops at a slash, and thus at the next `://`, so no part of the text is scanned for two URLs.
        let authority = until(rest, |c| matches!(c, '/' | '?' | '#') || ends_address(c));
        let secret = authority.rfind('@').or_else(|| {
            // A password with an unescaped slash ends the authority too early. `host:8080/a@b` is not such a case.
            let (_, password) = authority.split_once(':')?;
            let port = !password.is_empty() && password.bytes().all(|b| b.is_ascii_digit());
            let address = until(&rest[..rest.find("://").unwrap_or(rest.len())], ends_address);
            if port { None } else { address.rfind('@') }
        });
        self.out.push_str("://");
        self.at += 3;
        if let Some(len) = secret {
            self.out.push_str(REDACTED);
            self.out.push('@');
            self.at += len + 1;
            // The host follows. An `@` in it does not belong to an email address.
            let host =
                until(self.rest(), |c| matches!(c, '/' | '?' | '#' | '@') || ends_address(c)).len();
            self.copy(host);
        }
    }

    /// Redacts `local@domain`. The local part is already in the output and is removed again.
    fn email(&mut self) {
        let local = |c: char| {
            c.is_alphanumeric()
                || matches!(c, '.' | '_' | '%' | '+' | '-' | '\'' | '!' | '#' | '$' | '&' | '*')
        };
        let kept = self.out.trim_end_matches(local).len();
        let rest = &self.rest()[1..];
        let domain = until(rest, |c| !(c.is_alphanumeric() || matches!(c, '.' | '-')));
        if kept == self.out.len() || domain.is_empty() {
            self.copy(1);
        } else {
            self.out.truncate(kept);
            self.out.push_str("[EMAIL]");
            self.at += 1 + domain.len();
        }
    }

    fn word(&mut self, word: &str) {
        if is_scheme_of_authorization(word) {
            self.copy(word.len());
            self.redact_credentials();
        } else if names_a_secret(word) {
            self.copy(word.len());
            self.redact_value();
        } else if is_token(word) {
            self.out.push_str(REDACTED);
            self.at += word.len();
        } else {
            self.copy(word.len());
        }
    }

    /// Redacts the word after an authorization scheme such as `Bearer`.
    fn redact_credentials(&mut self) {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let token = until(&rest[space..], |c| {
            c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | ')' | ']' | '}')
        });
        if space > 0 && !token.is_empty() && !is_scheme_of_authorization(token) {
            let skip = token.len();
            self.copy(space);
            self.out.push_str(REDACTED);
            self.at += skip;
        }
    }

    /// Redacts the value after the name of a secret and `=`, `:` or `=>`. The value may be quoted.
    fn redact_value(&mut self) {
        let rest = self.rest();
        let trimmed =
            rest.trim_start_matches(['"', '\'', '\\', '`', ']']).trim_start_matches([' ', '\t']);
        let Some(value) =
            ["=>", ":=", "==", "=", ":"].iter().find_map(|sign| trimmed.strip_prefix(sign))
        else {
            return;
        };
        let value = value.trim_start_matches([' ', '\t', '\\']);
        let lead = rest.len() - value.len();
        self.copy(lead);
        let rest = self.rest();
        // In `Authorization: Bearer x`, the secret is the word after the scheme.
        if is_scheme_of_authorization(word(rest)) {
            return;
        }
        match rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
            Some(quote) => {
                self.copy(1);
                let inside = quoted(self.rest(), quote);
                self.redact(inside);
            }
            None => self.redact(
                until(rest, |c| {
                    c.is_whitespace() || matches!(c, '&' | ',' | ';' | ')' | ']' | '}' | '"' | '\'')
                })
                .len(),
            ),
        }
    }

    fn redact(&mut self, len: usize) {
        if len > 0 {
            self.out.push_str(REDACTED);
            self.at += len;
        }
    }
}

/// Returns the text before the first character for which `stop` returns `true`.
fn until(text: &str, stop: impl Fn(char) -> bool) -> &str {
    &text[..text.find(stop).unwrap_or(text.len())]
}

/// Returns the name or value at the start of a text.
fn word(text: &str) -> &str {
    until(text, |c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '|')
}

/// Returns the length of the text before its closing quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at,
            _ => {}
        }
    }
    text.len()
}

fn is_scheme_of_authorization(word: &str) -> bool {
    ["bearer", "basic", "digest", "negotiate"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns `true` if a name denotes a secret, such as `password`, `X-Api-Key`, `AWS_SECRET_ACCESS_KEY` or `PGPASSWORD`.
fn names_a_secret(word: &str) -> bool {
    const STEMS: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "privatekey",
        "credential",
        "authorization",
        "sessionid",
        "cookie",
        "signature",
    ];
    /// A longer word is a value and not the name of a secret.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return false;
    }
    let bare: String =
        word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    STEMS.iter().any(|stem| bare.contains(stem))
        || bare == "auth"
        || bare == "pass"
        || bare == "key"
}

/// Returns `true` if a word has the form of a secret: a JSON web token, or a key of a well-known service.
fn is_token(word: &str) -> bool {
    let jwt = word.starts_with("eyJ")
        && word.len() > 20
        && word.bytes().filter(|b| *b == b'.').count() == 2;
    let prefixed = [
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "glpat-",
    ]
    .iter()
    .any(|prefix| word.len() > prefix.len() + 8 && word.starts_with(prefix));
    jwt || prefixed
}
