//! Keyrings for cases about signing and encryption.

use ratchet_core::{Builder, Encrypt, Key, KeyState, Keyring, Purpose};

/// A key with fixed bytes.
pub(super) fn key(id: &str, purpose: Purpose, byte: u8) -> Key {
    Key::from_bytes(id, purpose, [byte; 32]).expect("a key")
}

/// A keyring of these keys.
pub(super) fn ring(keys: impl IntoIterator<Item = Key>) -> Keyring {
    Keyring::new(keys).expect("a keyring")
}

/// A keyring that signs.
pub(super) fn signing() -> Keyring {
    ring([key("s1", Purpose::Sign, 1)])
}

/// A keyring that signs with the second key, and verifies with the first one in the given state.
pub(super) fn rotated(first: KeyState) -> Keyring {
    ring([key("s1", Purpose::Sign, 1).state(first), key("s2", Purpose::Sign, 2)])
}

/// A keyring that signs and encrypts.
pub(super) fn both() -> Keyring {
    ring([
        key("s1", Purpose::Sign, 1),
        key("e1", Purpose::Encrypt, 3),
        key("d1", Purpose::Digest, 4),
    ])
}

/// Signs and encrypts everything if `RATCHET_PROTECT` is set, so that every case of the suite also tests the protection:
/// `RATCHET_PROTECT=1 scripts/test -p ratchet-jobs-sqlite --test engine`.
pub(super) fn protected_if_requested(builder: Builder) -> Builder {
    match std::env::var_os("RATCHET_PROTECT") {
        Some(_) => builder.keyring(both()).encrypt(Encrypt::All),
        None => builder,
    }
}
