//! The arguments of `ratchet keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Creates, rotates and destroys keys in a file.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    /// The key file [env: `RATCHET_KEYS_FILE`]
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) action: KeysAction,
}

impl Keys {
    /// Returns `true` for commands on the content of the store. The others only use the file.
    pub(crate) fn needs_store(&self) -> bool {
        matches!(self.action, KeysAction::Usage { .. } | KeysAction::Reencrypt { .. })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysAction {
    /// Creates the first key of a purpose, and the file if it does not exist
    New {
        /// The id of the key, which is stored beside what the key protects
        id: String,
        /// What the key is used for
        #[arg(long, value_enum)]
        purpose: KeyPurpose,
        /// Uses an encryption key for one tenant only
        #[arg(long)]
        tenant: Option<String>,
    },
    /// Shows the keys of the file, without their material
    List,
    /// Replaces the active key by a new one; the old key still verifies and decrypts
    Rotate {
        /// The key to replace
        old: String,
        /// The id of the new key
        new: String,
        /// Adds the new key without using it, until every process has it
        #[arg(long)]
        prepare: bool,
    },
    /// Makes a key the one that signs or encrypts
    Activate {
        /// The key
        id: String,
    },
    /// Stops the use of a key; jobs that it signed are refused, jobs that it encrypted wait
    Retire {
        /// The key
        id: String,
    },
    /// Counts what each key protects in the store; a key that protects nothing can be retired
    Usage {
        /// The most rows to read
        #[arg(long, default_value_t = 1_000_000)]
        most: u64,
    },
    /// Signs and encrypts what is stored with the active keys; can be interrupted and run again
    Reencrypt {
        /// How many rows are read and written at a time
        #[arg(long, default_value_t = 200)]
        page: u32,
        /// The pause after each page, such as 20ms
        #[arg(long, default_value = "20ms")]
        pause: String,
        /// Also encrypts the arguments of jobs that are stored readable and must be encrypted
        #[arg(long)]
        plain: bool,
    },
    /// Removes the material of a key; what it encrypted can never be read again
    Destroy {
        /// The key
        id: String,
    },
}

/// What a key is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyPurpose {
    /// Signs jobs and schedules
    Sign,
    /// Encrypts arguments, outputs and texts
    Encrypt,
    /// Protects the digests of idempotency keys; must not be rotated
    Digest,
}
