//! `ratchet keys`: the keyring as a file. Key material is never printed.

use std::io::{self, IsTerminal, Write as _};
use std::path::PathBuf;

use ratchet_core::{KeyFile, KeyId, KeyInfo, KeyState, KeyringError, Purpose};

use crate::args::{Global, KeyPurpose, Keys, KeysAction};
use crate::exit::{ExitStatus, Failure, with_sources};
use crate::output::{Output, column};

/// Changes or shows a key file.
pub(crate) fn run(command: &Keys, global: &Global) -> Result<(), Failure> {
    let path = path(command)?;
    let mut file = match &command.action {
        KeysAction::New { .. } if !path.exists() => KeyFile::create(&path).map_err(refused)?,
        _ => KeyFile::open(&path).map_err(refused)?,
    };
    let done = match &command.action {
        KeysAction::List => return list(&file, global),
        // These use the store; see `reencrypt.rs`.
        KeysAction::Usage { .. } | KeysAction::Reencrypt { .. } => return Ok(()),
        KeysAction::New { id, purpose, tenant } => {
            let purpose = purpose_of(*purpose);
            let active = |key: &KeyInfo| {
                (key.purpose, &key.tenant, key.state) == (purpose, tenant, KeyState::Active)
            };
            if let Some(key) = file.list().into_iter().find(active) {
                return Err(Failure::new(
                    ExitStatus::Conflict,
                    format!(
                        "key `{}` is active; use `ratchet keys rotate {} {id}`",
                        key.id, key.id
                    ),
                ));
            }
            file.add(id, purpose, tenant.as_deref()).map_err(refused)?;
            format!("key `{id}` is active")
        }
        KeysAction::Rotate { old, new, prepare } => {
            let key = find(&file, old)?;
            if key.purpose == Purpose::Digest {
                return Err(Failure::refused(
                    "a digest key cannot be rotated: repeats of idempotency keys would not be recognized",
                ));
            }
            let tenant = key.tenant.as_deref();
            if *prepare {
                file.prepare(new, key.purpose, tenant).map_err(refused)?;
                format!(
                    "key `{new}` verifies and decrypts; deploy the file, then `ratchet keys activate {new}`"
                )
            } else {
                file.add(new, key.purpose, tenant).map_err(refused)?;
                format!("key `{new}` is active, `{old}` verifies and decrypts")
            }
        }
        KeysAction::Activate { id } => {
            file.activate(&key_id(id)?).map_err(refused)?;
            format!("key `{id}` is active")
        }
        KeysAction::Retire { id } => {
            file.retire(&key_id(id)?).map_err(refused)?;
            format!("key `{id}` is retired")
        }
        KeysAction::Destroy { id } => {
            find(&file, id)?;
            confirm(id, global)?;
            file.destroy(&key_id(id)?).map_err(refused)?;
            format!("key `{id}` is destroyed; destroy its copies and backups as well")
        }
    };
    if global.dry_run {
        eprintln!("would write {}: {done}", path.display());
        return Ok(());
    }
    file.save().map_err(refused)?;
    eprintln!("{done}");
    Ok(())
}

fn path(command: &Keys) -> Result<PathBuf, Failure> {
    let from_env = || std::env::var_os("RATCHET_KEYS_FILE").map(PathBuf::from);
    command
        .file
        .clone()
        .or_else(from_env)
        .ok_or_else(|| Failure::usage("which file? Give `--file FILE`, or set `RATCHET_KEYS_FILE`"))
}

fn list(file: &KeyFile, global: &Global) -> Result<(), Failure> {
    let columns = [
        column("ID", |key: &KeyInfo, _| key.id.to_string()),
        column("PURPOSE", |key: &KeyInfo, _| key.purpose.to_string()),
        column("TENANT", |key: &KeyInfo, out: &Output| {
            key.tenant.clone().unwrap_or_else(|| out.none())
        }),
        column("STATE", |key: &KeyInfo, _| key.state.to_string()),
        column("WRAPPED", |key: &KeyInfo, _| if key.wrapped { "yes" } else { "no" }.to_owned()),
    ];
    Output::new(global).list(&file.list(), &columns, "the file has no keys")
}

fn find(file: &KeyFile, id: &str) -> Result<KeyInfo, Failure> {
    let id = key_id(id)?;
    let found = file.list().into_iter().find(|key| key.id == id);
    found.ok_or_else(|| refused(KeyringError::NotFound(id)))
}

fn key_id(id: &str) -> Result<KeyId, Failure> {
    KeyId::new(id).map_err(|error| Failure::usage(error.to_string()))
}

fn purpose_of(purpose: KeyPurpose) -> Purpose {
    match purpose {
        KeyPurpose::Sign => Purpose::Sign,
        KeyPurpose::Encrypt => Purpose::Encrypt,
        KeyPurpose::Digest => Purpose::Digest,
    }
}

/// Asks before a key is destroyed; `--yes` answers.
fn confirm(id: &str, global: &Global) -> Result<(), Failure> {
    if global.yes || global.dry_run {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::refused(format!(
            "will not destroy key `{id}` without confirmation; add `--yes`"
        )));
    }
    eprint!("destroy key `{id}`? What it encrypted can never be read again. [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::refused("nothing was changed")),
    }
}

#[allow(clippy::needless_pass_by_value)] // an argument of `map_err`
fn refused(error: KeyringError) -> Failure {
    let status = match &error {
        KeyringError::NotFound(_) => ExitStatus::NotFound,
        KeyringError::State { .. } | KeyringError::DuplicateId(_) => ExitStatus::Conflict,
        KeyringError::InvalidId(_) | KeyringError::TenantOfOtherKey(_) => ExitStatus::Usage,
        KeyringError::File { error, .. } if error.kind() == io::ErrorKind::NotFound => {
            ExitStatus::NotFound
        }
        _ => ExitStatus::Refused,
    };
    Failure::new(status, with_sources(&error))
}
