//! Keys, signatures and encryption. See the guide: [`guide::security`](crate::guide::security).

pub use ratchet_core::{
    Encrypt, Key, KeyError, KeyFile, KeyId, KeyInfo, KeyProvider, KeyState, Keyring, KeyringError,
    ProviderError, Purpose, Sign, Zeroizing,
};
