//! Tokens of the dashboard: how they are created, stored and checked.
//!
//! A token is 256 random bits. The file has only its SHA-256 digest, so that who reads the file cannot use it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use jiff::Timestamp;
use ratchet_core::Capability;
use ratchet_web::Access;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::read;
use crate::args::{Role, Token};
use crate::exit::Failure;

/// Prints a new token, and the entry for the file of tokens.
pub(crate) fn run(command: &Token) -> Result<(), Failure> {
    let mut bits = [0; 32];
    getrandom::fill(&mut bits)
        .map_err(|error| Failure::refused(format!("the system has no random bits: {error}")))?;
    let token = format!("rt_{}", hexadecimal(&bits));
    let role = format!("{:?}", command.role).to_lowercase();
    let mut entry = format!(
        "[[token]]\nactor = {}\nrole = \"{role}\"\nsha256 = \"{}\"\n",
        serde_json::Value::from(command.actor.as_str()),
        digest(&token)
    );
    if command.secrets {
        if command.role == Role::Viewer {
            return Err(Failure::usage(
                "`--secrets` needs the role operator or admin: a viewer sees no arguments",
            ));
        }
        entry.push_str("secrets = true\n");
    }
    if let Some(length) = &command.expires_in {
        let length = read::duration(length)?;
        let until =
            now().checked_add(length).map_err(|_| Failure::usage("`--expires-in` is too long"))?;
        let _ = writeln!(entry, "expires = \"{until}\"");
    }
    eprintln!("The token is shown once. Give it to {}:", command.actor);
    writeln!(io::stdout(), "{token}")?;
    eprintln!("\nAdd this to the file of tokens, and remove it to revoke the token:\n\n{entry}");
    Ok(())
}

#[allow(
    clippy::disallowed_methods,
    reason = "tokens expire by the clock of the host, not of the store"
)]
fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns the SHA-256 digest of a token in hexadecimal.
fn digest(token: &str) -> String {
    hexadecimal(&Sha256::digest(token.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The file of tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<Entry>,
}

/// An entry of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    actor: String,
    role: Role,
    sha256: String,
    /// Whether the secrets of jobs may be revealed.
    #[serde(default)]
    secrets: bool,
    expires: Option<Timestamp>,
    queues: Option<Vec<String>>,
    names: Option<Vec<String>>,
    tenants: Option<Vec<String>>,
}

impl Entry {
    fn access(&self) -> Access {
        let mut access = match self.role {
            Role::Viewer => Access::viewer(&self.actor),
            Role::Operator => Access::operator(&self.actor),
            Role::Admin => Access::admin(&self.actor),
        };
        if self.secrets {
            access = access.allow(Capability::SeeSecrets);
        }
        if let Some(queues) = &self.queues {
            access = access.queues(queues);
        }
        if let Some(names) = &self.names {
            access = access.names(names);
        }
        if let Some(tenants) = &self.tenants {
            access = access.tenants(tenants);
        }
        access
    }
}

/// The tokens of a file, which is read again when it changes.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    read: Mutex<(Option<SystemTime>, Vec<Entry>)>,
}

impl Tokens {
    /// Reads the file. It must exist.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let entries = entries(path)?;
        let read = Mutex::new((modified(path), entries));
        Ok(Self { path: path.to_owned(), read })
    }

    /// Returns what a token allows; `None` if it is unknown or has expired.
    pub(crate) fn access(&self, token: &str) -> Option<Access> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = modified(&self.path);
        if changed != read.0 {
            // A file that cannot be read allows nothing: it may be the one from which a token was removed.
            let entries = entries(&self.path).unwrap_or_else(|failure| {
                tracing::error!(%failure, "no token is valid until the file of tokens can be read");
                Vec::new()
            });
            *read = (changed, entries);
        }
        let wanted = digest(token);
        let now = now();
        let found = read
            .1
            .iter()
            .filter(|entry| same(&entry.sha256, &wanted))
            .fold(None, |_, entry| Some(entry));
        found.filter(|entry| entry.expires.is_none_or(|expires| now < expires)).map(Entry::access)
    }
}

/// Compares without ending at the first difference.
fn same(a: &str, b: &str) -> bool {
    let different = a.bytes().zip(b.bytes()).fold(0, |different, (a, b)| different | (a ^ b));
    a.len() == b.len() && different == 0
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

fn entries(path: &Path) -> Result<Vec<Entry>, Failure> {
    let wrong =
        |problem: String| Failure::usage(format!("cannot read {}: {problem}", path.display()));
    let text = fs::read_to_string(path).map_err(|error: io::Error| wrong(error.to_string()))?;
    let file: File = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    for entry in &file.token {
        if entry.sha256.len() != 64 || !entry.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong(format!(
                "the `sha256` of `{}` is not a SHA-256 digest",
                entry.actor
            )));
        }
    }
    Ok(file.token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_08_a_token_is_valid_until_it_expires_or_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.toml");
        let entry = |expires: &str| {
            format!(
                "[[token]]\nactor = \"ada\"\nrole = \"operator\"\nsha256 = \"{}\"\n{expires}\n",
                digest("rt_x")
            )
        };
        fs::write(&path, entry("queues = [\"mail\"]")).expect("writes");
        let tokens = Tokens::open(&path).expect("opens");
        let access = tokens.access("rt_x").expect("is valid");
        assert_eq!(access.actor(), "ada");
        assert_eq!(access, Access::operator("ada").queues(["mail"]));
        assert!(tokens.access("rt_y").is_none());
        fs::write(&path, entry("secrets = true")).expect("writes");
        let tokens = Tokens::open(&path).expect("opens");
        let access = tokens.access("rt_x").expect("is valid");
        assert_eq!(access, Access::operator("ada").allow(Capability::SeeSecrets));
        fs::write(&path, entry("expires = \"2020-01-01T00:00:00Z\"")).expect("writes");
        let later = SystemTime::UNIX_EPOCH;
        fs::File::options()
            .write(true)
            .open(&path)
            .expect("opens")
            .set_modified(later)
            .expect("sets");
        assert!(tokens.access("rt_x").is_none(), "it has expired");
        fs::write(&path, "").expect("writes");
        assert!(tokens.access("rt_x").is_none(), "it was removed");
        fs::write(&path, "token = 7").expect("writes");
        assert!(Tokens::open(&path).is_err());
    }
}
