//! Before an error is stored or published: secrets out, length capped.

use std::error::Error;
use std::fmt;

/// An error on its way into the store.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RawError<'a> {
    /// The name of its type.
    pub error_type: &'a str,
    /// The messages of its whole source chain.
    pub message: &'a str,
    /// The error itself, if there is one: panics and refusals have none.
    pub error: Option<&'a (dyn Error + 'static)>,
}

/// Decides what may be kept of an error message.
///
/// Called before anything is stored or published. Must be quick and must not block.
pub trait ErrorSanitizer: Send + Sync + fmt::Debug + 'static {
    /// The message as it may be stored. The type's name is kept beside it.
    fn sanitize(&self, error: &RawError<'_>) -> String;
}

/// Takes out credentials in URLs, e-mail addresses, bearer tokens and `key=secret` pairs, and caps the length.
///
/// One pass over the text, linear in its length whatever it holds.
///
/// ```
/// use ratchet_core::DefaultSanitizer;
///
/// let clean = DefaultSanitizer::default().clean("cannot reach postgres://admin:s3cret@db.internal/prod");
/// assert_eq!(clean, "cannot reach postgres://[REDACTED]@db.internal/prod");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DefaultSanitizer {
    /// The longest message kept, in bytes; it is cut at a character.
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
    /// The text without its secrets, not longer than `max_len`.
    pub fn clean(&self, text: &str) -> String {
        let mut scan =
            Scan { text, at: 0, out: String::with_capacity(text.len().min(self.max_len * 2)) };
        // What comes after the cap is never looked at; a little more is read so that the cut does not fall into a secret.
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

/// A position in the text, and what has been let through so far.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    out: String,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Lets one word or one other character through, or what takes its place.
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

    /// `://user:password@host`: everything up to the `@` goes.
    fn url(&mut self, rest: &str) {
        // The next `://` holds a slash, so no part of the text is looked at for two addresses.
        let authority = until(rest, |c| matches!(c, '/' | '?' | '#') || ends_address(c));
        let secret = authority.rfind('@').or_else(|| {
            // A password with an unescaped slash ends the authority too early. `host:8080/a@b` is no such case.
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
            // The host follows; an `@` in it is not an address of a person.
            let host =
                until(self.rest(), |c| matches!(c, '/' | '?' | '#' | '@') || ends_address(c)).len();
            self.copy(host);
        }
    }

    /// `local@domain`: the local part is already out and is taken back.
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

    /// After `Bearer`: one word of anything.
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

    /// After the name of a secret: `=`, `:` or `=>`, and its value, quoted or not.
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
        // `Authorization: Bearer x`: the word after the scheme is the secret.
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

/// The leading part of a text up to the first character that fits.
fn until(text: &str, stop: impl Fn(char) -> bool) -> &str {
    &text[..text.find(stop).unwrap_or(text.len())]
}

/// The name or value a text starts with.
fn word(text: &str) -> &str {
    until(text, |c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '|')
}

/// How much of a text stands before its closing quote.
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

/// Whether a name promises a secret: `password`, `X-Api-Key`, `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD`.
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
    /// No name of a secret is longer; what is longer is a value.
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

/// Whether a word is a secret by its shape: a JSON web token, or a key of a well-known service.
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
