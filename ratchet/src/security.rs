//! Secrets, keys, signatures and encryption. See the guide: [`guide::security`](crate::guide::security).

pub use ratchet_core::{
    Encrypt, Key, KeyError, KeyFile, KeyId, KeyInfo, KeyProvider, KeyState, KeyUsage, Keyring,
    KeyringError, ProviderError, Purpose, Reencrypt, ReencryptError, Reencrypted, Secret, Sign,
    Zeroizing,
};
