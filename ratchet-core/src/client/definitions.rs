//! The jobs that a program declares.

use super::Ratchet;
use crate::job::JobDef;

impl Ratchet {
    /// Returns the definitions of the jobs in the registry of this program, ordered by name.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// for job in ratchet.definitions() {
    ///     println!("{} in queue {}", job.name, job.queue);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn definitions(&self) -> Vec<JobDef> {
        let mut definitions: Vec<_> = self.core.resolver.all().iter().map(|job| job.def).collect();
        definitions.sort_by_key(|definition| definition.name);
        definitions
    }
}
