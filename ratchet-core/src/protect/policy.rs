//! [`Sign`] and [`Encrypt`]: what a runtime with a keyring requires of jobs.

/// Whether a worker runs jobs without a signature. Applies if the keyring has signing keys.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as security}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::security::{Key, Keyring, Purpose, Sign};
/// use ratchet::{MemoryStore, Ratchet};
///
/// // The first deploy with a keyring: jobs without a signature are still stored.
/// let keyring = Keyring::new([Key::generate("s1", Purpose::Sign)?])?;
/// let builder = Ratchet::builder(MemoryStore::new()).keyring(keyring).sign(Sign::AcceptUnsigned);
/// let ratchet = builder.build().await?;
/// # drop(ratchet); Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Sign {
    /// A job or schedule without a valid signature is refused as `rejected_signature`.
    #[default]
    Required,
    /// A job or schedule without a signature is accepted and counted. A wrong signature is refused. For the time between
    /// the first submit with a keyring and the end of the last job without a signature.
    AcceptUnsigned,
}

/// Which jobs are encrypted. Applies if the keyring has encryption keys.
///
/// Jobs that are marked with `#[job(encrypt)]`, and jobs with an argument that is marked as secret, are always encrypted.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as security}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::security::{Encrypt, Key, Keyring, Purpose};
/// use ratchet::{MemoryStore, Ratchet};
///
/// let keyring = Keyring::new([Key::generate("e1", Purpose::Encrypt)?])?;
/// let ratchet = Ratchet::builder(MemoryStore::new())
///     .keyring(keyring)
///     .encrypt(Encrypt::queues(["payments"]))
///     .build()
///     .await?;
/// # drop(ratchet); Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Encrypt {
    /// Only jobs that are marked.
    #[default]
    Marked,
    /// Marked jobs and all jobs that are submitted to one of these queues.
    Queues(Vec<String>),
    /// All jobs.
    All,
}

impl Encrypt {
    /// Encrypts marked jobs and all jobs of these queues.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as security; }
    /// use ratchet::security::Encrypt;
    ///
    /// let policy = Encrypt::queues(["payments", "mail"]);
    /// ```
    pub fn queues(queues: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Queues(queues.into_iter().map(Into::into).collect())
    }

    /// Returns `true` if the jobs of a queue are encrypted whether or not they are marked.
    pub(super) fn includes(&self, queue: &str) -> bool {
        match self {
            Self::Marked => false,
            Self::Queues(queues) => queues.iter().any(|name| name == queue),
            Self::All => true,
        }
    }
}
