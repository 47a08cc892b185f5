//! [`Ratchet::reencrypt`]: stored content under the active keys, so that older keys can be retired.

use std::collections::BTreeMap;
use std::time::Duration;

use ratchet_keyring::KeyId;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Change, ChangeReply, ContentPlace, Filter, JobId, JobSpec, PageRequest, Rewrite, WriteSchedule,
};
use serde::Serialize;

use crate::client::{Ratchet, store_error};
use crate::protect::{Protector, Reprotected, count_keys, count_sealed};

/// How stored content is protected again; see [`Ratchet::reencrypt`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as security; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::ReencryptError> {
/// use ratchet::security::Reencrypt;
/// use std::time::Duration;
///
/// // Slowly, and also arguments that were stored before jobs were encrypted.
/// let gentle = Reencrypt::default().page(50).pause(Duration::from_millis(200)).encrypt_plain();
/// let done = ratchet.reencrypt(gentle, |so_far| println!("{} rows", so_far.read)).await?;
/// println!("{} rows were written again", done.rewritten);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "the options are used by `Ratchet::reencrypt`"]
pub struct Reencrypt {
    page: u32,
    pause: Duration,
    plain: bool,
}

impl Default for Reencrypt {
    fn default() -> Self {
        Self { page: 200, pause: Duration::from_millis(20), plain: false }
    }
}

impl Reencrypt {
    /// Sets how many rows are read and changed at a time; 200 by default.
    pub fn page(mut self, rows: u32) -> Self {
        self.page = rows.max(1);
        self
    }

    /// Sets the pause after each page, which leaves the store to the workers; 20 ms by default.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Encrypts also the arguments of stored jobs that are not encrypted and would be if they were submitted now. What
    /// their earlier runs have written stays readable until it is deleted.
    pub fn encrypt_plain(mut self) -> Self {
        self.plain = true;
        self
    }
}

/// What [`Ratchet::reencrypt`] has done so far.
///
/// ```
/// # mod ratchet { pub use ratchet_core as security; }
/// use ratchet::security::Reencrypted;
///
/// fn show(done: &Reencrypted) {
///     println!("{} of {} rows were written again", done.rewritten, done.read);
///     if done.changed > 0 {
///         println!("{} rows changed meanwhile, run it again", done.changed);
///     }
///     for (reason, values) in &done.refused {
///         println!("{values} values were left as they are: {reason}");
///     }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reencrypted {
    /// How many rows were read.
    pub read: u64,
    /// How many rows were written with active keys.
    pub rewritten: u64,
    /// How many rows changed between the read and the write. They stay as they are. Run it again.
    pub changed: u64,
    /// How many values cannot be written again, by the reason.
    pub refused: BTreeMap<String, u64>,
}

/// How many stored values each key protects; see [`Ratchet::key_usage`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as security; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::security::KeyId;
///
/// let usage = ratchet.key_usage(u64::MAX).await?;
/// let old = KeyId::new("e1")?;
/// if usage.complete && usage.unreadable == 0 && !usage.keys.contains_key(&old) {
///     println!("{old} can be retired");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeyUsage {
    /// The number of signatures and encrypted values, by key.
    pub keys: BTreeMap<KeyId, u64>,
    /// How many rows were read.
    pub read: u64,
    /// How many jobs and texts cannot be read. It is not known which keys protect them.
    pub unreadable: u64,
    /// Whether everything was read. Otherwise, a key that is not listed may still be needed.
    pub complete: bool,
}

/// Why stored content was not protected again.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as security}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::security::{Reencrypt, ReencryptError};
/// use ratchet::{MemoryStore, Ratchet};
///
/// let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// let refused = ratchet.reencrypt(Reencrypt::default(), |_| {}).await;
/// assert!(matches!(refused, Err(ReencryptError::NoKeyring)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReencryptError {
    /// The runtime has no keyring.
    #[error(
        "this program has no keyring, so stored content cannot be encrypted again; set `RATCHET_KEYS_FILE`, or build the runtime with `keyring`"
    )]
    NoKeyring,
    /// The store failed. What was written before stays written, and another call continues.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason for a row whose texts cannot be read.
const UNREADABLE: &str = "the row cannot be read";

/// The reason for a job that must not be signed.
const UNSIGNED: &str = "the job is not signed";

impl Ratchet {
    /// Signs and encrypts stored content again that is protected with keys that are no longer active: arguments, callbacks,
    /// outputs, errors, checkpoints, progress messages, log lines, warnings, rejected items, hand-offs, deliveries, alerts and
    /// schedules. When [`key_usage`](Self::key_usage) no longer lists a key, it can be retired.
    ///
    /// Workers can run meanwhile. A row that changes between the read and the write is not overwritten. All processes must
    /// have the active keys before, because otherwise they cannot read what is written. If the call is interrupted, call it
    /// again: rows that are already under active keys are not written again. `progress` is called after each page.
    ///
    /// ```
    /// # use ratchet_core::{Key, Keyring, Purpose, Ratchet, Reencrypt};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let keyring = Keyring::new([Key::generate("e1", Purpose::Encrypt)?])?;
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).keyring(keyring).build().await?;
    /// let done = ratchet.reencrypt(Reencrypt::default(), |_| {}).await?;
    /// assert_eq!(done.changed, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn reencrypt(
        &self,
        options: Reencrypt,
        mut progress: impl FnMut(&Reencrypted) + Send,
    ) -> Result<Reencrypted, ReencryptError> {
        let protector = self.core.protector.clone().ok_or(ReencryptError::NoKeyring)?;
        let mut report = Reencrypted::default();
        let mut before = None;
        loop {
            let next = self.reencrypt_jobs(&protector, options, before, &mut report).await?;
            progress(&report);
            before = next;
            if before.is_none() {
                break;
            }
            self.rest(options).await;
        }
        self.reencrypt_schedules(&protector, &mut report).await?;
        for place in ContentPlace::ALL {
            let mut after = None;
            loop {
                let store = self.core.plain_store();
                let page = store.content(place, after, options.page).await?;
                (0..page.unreadable).for_each(|_| report.refuse(&UNREADABLE));
                let rows = page.rows;
                let mut rewrites = Vec::new();
                for row in rows {
                    report.read += 1;
                    let (texts, errors) = protector.reprotect_texts(place, &row).await;
                    errors.iter().for_each(|error| report.refuse(error));
                    if let Some(texts) = texts {
                        let (key, expected) = (row.key, row.texts);
                        rewrites.push(Rewrite::Texts { place, key, expected, texts });
                    }
                }
                self.rewrite(rewrites, &mut report).await?;
                progress(&report);
                after = page.next;
                if after.is_none() {
                    break;
                }
                self.rest(options).await;
            }
        }
        Ok(report)
    }

    /// Counts how many stored values each key protects. Reads at most `most` rows.
    pub async fn key_usage(&self, most: u64) -> Result<KeyUsage, StoreError> {
        const PAGE: u32 = 500;
        let store = self.core.plain_store();
        let mut usage = KeyUsage::default();
        let mut before = None;
        loop {
            let filter = Filter::any().oldest_first();
            let page = store.list(&filter, PageRequest { before, limit: PAGE }).await?;
            usage.read += page.jobs.len() as u64;
            page.jobs.iter().for_each(|job| count_keys(&job.spec, &mut usage.keys));
            before = page.next;
            if before.is_none() {
                break;
            }
            if usage.read >= most {
                return Ok(usage);
            }
        }
        for schedule in store.schedules().await? {
            usage.read += 1;
            count_keys(&schedule.spec, &mut usage.keys);
        }
        for place in ContentPlace::ALL {
            let mut after = None;
            loop {
                let page = store.content(place, after, PAGE).await?;
                usage.read += page.rows.len() as u64;
                usage.unreadable += page.unreadable;
                for text in page.rows.iter().flat_map(|row| row.texts.iter().flatten()) {
                    count_sealed(text, &mut usage.keys);
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
                if usage.read >= most {
                    return Ok(usage);
                }
            }
        }
        usage.unreadable += store.count_unreadable().await?;
        usage.complete = usage.unreadable == 0;
        Ok(usage)
    }

    /// Protects one page of jobs again. Returns where the next one starts.
    async fn reencrypt_jobs(
        &self,
        protector: &Protector,
        options: Reencrypt,
        before: Option<JobId>,
        report: &mut Reencrypted,
    ) -> Result<Option<JobId>, ReencryptError> {
        let filter = Filter::any().oldest_first();
        let request = PageRequest { before, limit: options.page };
        let page = self.core.plain_store().list(&filter, request).await?;
        let mark = |spec: &mut JobSpec| self.core.mark_confidential(spec);
        let mark: Option<&(dyn Fn(&mut JobSpec) + Sync)> = options.plain.then_some(&mark);
        let mut rewrites = Vec::new();
        for job in page.jobs {
            report.read += 1;
            match protector.reprotect_job(job.id, &job.spec, mark).await {
                Ok(Reprotected::Current) => {}
                Ok(Reprotected::Unsigned) => report.refuse(&UNSIGNED),
                Ok(Reprotected::Renewed(spec)) => {
                    let expected = job.spec.payload.clone();
                    rewrites.push(Rewrite::Arguments { job: job.id, expected, spec });
                }
                Err(error) => report.refuse(&error),
            }
        }
        self.rewrite(rewrites, report).await?;
        Ok(page.next)
    }

    /// Writes the schedules again that are protected with keys that are not active. Each is fenced by its version.
    async fn reencrypt_schedules(
        &self,
        protector: &Protector,
        report: &mut Reencrypted,
    ) -> Result<(), ReencryptError> {
        for stored in self.core.plain_store().schedules().await? {
            report.read += 1;
            if !protector.is_outdated(&stored.spec) {
                continue;
            }
            // The protected store verifies and decrypts it, and signs and encrypts it when it is written.
            let Some(record) = self.core.store.schedule(&stored.name).await? else { continue };
            if let Some(refusal) = record.spec.protection.refusal() {
                report.refuse(&refusal.why);
                continue;
            }
            let write = WriteSchedule {
                name: stored.name,
                replaces: Some(record.version),
                record: Some(record),
                declarations: None,
                jobs: Vec::new(),
                notices: Vec::new(),
            };
            let verb = "keys.reencrypt";
            let reply = self.core.operate(&self.manner(), verb, Change::Schedule(write)).await;
            match reply.map_err(store_error)?.is_change() {
                true => report.rewritten += 1,
                false => report.changed += 1,
            }
        }
        Ok(())
    }

    async fn rest(&self, options: Reencrypt) {
        if !options.pause.is_zero() {
            self.core.clock.sleep(options.pause).await;
        }
    }

    async fn rewrite(
        &self,
        rewrites: Vec<Rewrite>,
        report: &mut Reencrypted,
    ) -> Result<(), ReencryptError> {
        if rewrites.is_empty() {
            return Ok(());
        }
        let change = Change::Reprotect(rewrites);
        let reply = self.core.operate(&self.manner(), "keys.reencrypt", change).await;
        if let ChangeReply::Reprotected(applied) = reply.map_err(store_error)? {
            let rewritten = applied.iter().filter(|applied| **applied).count() as u64;
            report.rewritten += rewritten;
            report.changed += applied.len() as u64 - rewritten;
        }
        Ok(())
    }
}

impl Reencrypted {
    fn refuse(&mut self, why: &impl std::fmt::Display) {
        *self.refused.entry(why.to_string()).or_default() += 1;
    }
}
