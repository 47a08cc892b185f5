//! Keys for jobs: the keyring, signatures, encryption, and the envelope that carries both.
//!
//! A [`Keyring`] holds keys with ids. It [signs](Keyring::sign) with HMAC-SHA-256 and [seals](Keyring::seal) with
//! XChaCha20-Poly1305. Each seal has a random nonce of 192 bits from the operating system: after 2^80 seals with one key,
//! the probability that any nonce was used twice is about 2^-33. No counter is needed, so processes that share a key do
//! not have to coordinate.
//!
//! This crate contains no I/O except for the key file and the environment, and knows nothing of jobs or stores.
//! Applications use it through `ratchet`.
//!
//! ```
//! # mod ratchet { pub use ratchet_keyring as security; }
//! use ratchet::security::{Key, Keyring, Purpose};
//!
//! let keyring = Keyring::new([Key::generate("s1", Purpose::Sign)?, Key::generate("e1", Purpose::Encrypt)?])?;
//! let signature = keyring.sign(b"message")?;
//! assert!(keyring.verify(&signature, b"message").is_ok());
//!
//! let sealed = keyring.seal(None, b"job 1, arguments", b"secret")?;
//! assert_eq!(keyring.open(&sealed, b"job 1, arguments")?, b"secret");
//! assert!(keyring.open(&sealed, b"job 2, arguments").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canonical;
mod cipher;
mod document;
mod envelope;
mod error;
mod file;
mod key;
mod keyring;
mod provider;
mod reseal;
mod sealed_text;

pub use canonical::Canonical;
pub use envelope::{Content, Envelope, MalformedEnvelope};
pub use error::{KeyError, KeyringError};
pub use file::KeyFile;
pub use key::{Key, KeyId, KeyInfo, KeyState, Purpose};
pub use keyring::Keyring;
pub use provider::{KeyProvider, ProviderError};
pub use reseal::sealed_values;
pub use sealed_text::{seal_overhead, sealed_key, sealed_text, sealed_value};
pub use zeroize::Zeroizing;
