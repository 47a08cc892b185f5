//! [`KeyProvider`]: unwraps data keys, for example with a key management service.

use std::fmt;

use async_trait::async_trait;
use zeroize::Zeroizing;

use super::KeyId;

/// Unwraps data keys. The keyring keeps an unwrapped key in memory, so the provider is called once for each key.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::{KeyId, KeyProvider, ProviderError, Zeroizing};
///
/// #[derive(Debug)]
/// struct Kms;
///
/// #[async_trait::async_trait]
/// impl KeyProvider for Kms {
///     async fn unwrap_key(&self, _: &KeyId, wrapped: &[u8]) -> Result<Zeroizing<[u8; 32]>, ProviderError> {
///         // Send `wrapped` to the service, which returns the data key.
///         let key: [u8; 32] = wrapped.try_into().map_err(|_| ProviderError::new("wrong length"))?;
///         Ok(Zeroizing::new(key))
///     }
/// }
/// ```
#[async_trait]
pub trait KeyProvider: fmt::Debug + Send + Sync + 'static {
    /// Returns the data key. The call should have a timeout of its own.
    async fn unwrap_key(
        &self,
        id: &KeyId,
        wrapped: &[u8],
    ) -> Result<Zeroizing<[u8; 32]>, ProviderError>;
}

/// Why a provider could not unwrap a key.
///
/// ```
/// # mod ratchet { pub use ratchet_keyring as security; }
/// use ratchet::security::ProviderError;
///
/// // In a `KeyProvider` whose service is reached over the network.
/// fn call(answer: Result<Vec<u8>, std::io::Error>) -> Result<Vec<u8>, ProviderError> {
///     answer.map_err(|error| ProviderError::new("the key service did not answer").because(error))
/// }
/// let error = call(Err(std::io::ErrorKind::TimedOut.into())).unwrap_err();
/// assert_eq!(error.to_string(), "the key service did not answer");
/// # assert!(std::error::Error::source(&error).is_some());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    /// Creates an error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds the error that caused this one.
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
