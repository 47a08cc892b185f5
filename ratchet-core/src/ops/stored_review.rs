//! [`Ratchet::review_stored`]: which stored jobs a new version of a program could not read.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use ratchet_contract::{Contract, JobContract};
use ratchet_keyring::{Content, Envelope};
use ratchet_store::StoreError;
use ratchet_store::model::limits::brief;
use ratchet_store::model::{
    CatalogRecord, Filter, JobRecord, JobSpec, JobState, NodeRecord, PageRequest, ScheduleRecord,
};
use serde::Serialize;
use serde_json::Value;

use crate::client::Ratchet;

/// How many jobs are read at a time. A job can have a megabyte of arguments.
const PAGE: u32 = 100;

/// The result of [`Ratchet::review_stored`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// let lock = std::fs::read_to_string("ratchet.lock")?; // of the new version
/// let review = ratchet.review_stored(&lock.parse()?, None).await?;
/// println!("{} of {} stored jobs cannot be read", review.total(), review.checked);
/// for (job, count) in &review.not_checked {
///     println!("{count} encrypted jobs of {job} were not checked");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoredReview {
    /// What the new version could not read, ordered by job, kind and reason.
    pub stranded: Vec<Stranded>,
    /// How many stored jobs could not be checked because they are encrypted and this process does not have their key, by
    /// the name of the job.
    pub not_checked: BTreeMap<String, u64>,
    /// How many jobs, schedules and callbacks were checked.
    pub checked: u64,
    /// How many of them only live workers of other programs can run. They are not checked.
    pub of_other_programs: u64,
}

/// Stored jobs of one name that the new version could not read for the same reason.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::Stranded;
///
/// fn show(stranded: &Stranded) {
///     println!("{} {} jobs of {}", stranded.count, stranded.kind.name(), stranded.job);
///     println!("{}, for example in {}", stranded.problem, stranded.example);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stranded {
    /// The stored name of the job.
    pub job: String,
    /// Where the jobs are.
    pub kind: StoredKind,
    /// Why they cannot be read.
    pub reason: StrandedReason,
    /// How many there are.
    pub count: u64,
    /// What is wrong with the first one. It contains no values of arguments.
    pub problem: String,
    /// The first one: the id of a job, or the name of a schedule.
    pub example: String,
}

/// Where a job is stored.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::{StoredKind, StoredReview};
///
/// // Dead letters run again only if an operator retries them, so they need not stop a deploy.
/// fn may_deploy(review: &StoredReview) -> bool {
///     review.stranded.iter().all(|stranded| stranded.kind == StoredKind::Archived)
/// }
/// assert!(may_deploy(&StoredReview::default()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoredKind {
    /// It waits, runs or is paused.
    Queued,
    /// It waits, and is due later.
    Scheduled,
    /// It has failed, and runs again if an operator retries it.
    Archived,
    /// A schedule submits it at each occurrence.
    Recurring,
    /// It is submitted when the job that has it as its callback ends.
    Callback,
}

/// Why a stored job cannot be read.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::StrandedReason;
///
/// fn remedy(reason: StrandedReason) -> &'static str {
///     match reason {
///         StrandedReason::UnknownName => "add an alias with the old name",
///         StrandedReason::TooOld => "add an upgrade function",
///         StrandedReason::TooNew => "deploy the newer version of the program",
///         _ => "raise the version, and add an upgrade function",
///     }
/// }
/// assert_eq!(remedy(StrandedReason::TooOld), "add an upgrade function");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StrandedReason {
    /// No job has the name, nor an alias for it. The stored jobs would wait.
    UnknownName,
    /// The arguments have a newer version. The stored jobs would wait.
    TooNew,
    /// The arguments are older than every upgrade function. The stored jobs would fail as `invalid`.
    TooOld,
    /// The arguments do not fit. The stored jobs would fail as `invalid`.
    Arguments,
}

impl StoredKind {
    /// Returns the word for this kind, such as `queued`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Scheduled => "scheduled",
            Self::Archived => "archived",
            Self::Recurring => "recurring",
            Self::Callback => "callback",
        }
    }
}

impl StoredReview {
    /// Returns how many stored jobs, schedules and callbacks the new version could not read.
    pub fn total(&self) -> u64 {
        self.stranded.iter().map(|stranded| stranded.count).sum()
    }
}

impl Ratchet {
    /// Finds the stored jobs that a program with this contract could not read: those that wait, are due later, have failed
    /// and can be retried, are submitted by schedules, or follow another job as its callback.
    ///
    /// Run it before a deploy, with the lock file of the new version. It reads every such job, in pages. Arguments of an
    /// older version are not checked if an upgrade function reads that version: only its code knows what it accepts.
    ///
    /// A name that only live workers of other programs know belongs to them. `program` is the program that the contract
    /// belongs to; without it, the program whose recorded jobs are most like those of the contract.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// # let lock = "# ratchet.lock 1\n";
    /// let review = ratchet.review_stored(&lock.parse()?, None).await?;
    /// for stranded in &review.stranded {
    ///     println!("{} of {}: {}", stranded.count, stranded.job, stranded.problem);
    /// }
    /// assert_eq!(review.total(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn review_stored(
        &self,
        contract: &Contract,
        program: Option<&str>,
    ) -> Result<StoredReview, StoreError> {
        let store = &self.core.store;
        let own = own_programs(contract, program, &store.catalog().await?);
        let mut others = store.nodes().await?;
        others.retain(|node| node.alive && !own.contains(&node.info.declarations.program));
        let now = store.now().await?;
        let mut reading =
            Reading { contract, others, found: BTreeMap::new(), review: StoredReview::default() };
        let filter = [JobState::Pending, JobState::Running, JobState::Paused, JobState::Failed]
            .into_iter()
            .fold(Filter::any().oldest_first(), Filter::state);
        let mut before = None;
        loop {
            let page = store.list(&filter, PageRequest { before, limit: PAGE }).await?;
            page.jobs.iter().for_each(|job| reading.job(job, now));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        store.schedules().await?.iter().for_each(|schedule| reading.schedule(schedule));
        let Reading { found, mut review, .. } = reading;
        review.stranded = found.into_values().collect();
        Ok(review)
    }
}

/// Returns the programs that the contract belongs to: the given one, or those that share most names with it.
fn own_programs(
    contract: &Contract,
    program: Option<&str>,
    records: &[CatalogRecord],
) -> Vec<String> {
    if let Some(program) = program {
        return vec![program.to_owned()];
    }
    let mut shared: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        let entry = &record.entry;
        let mut names = std::iter::once(&entry.name).chain(&entry.aliases);
        if names.any(|name| find(contract, name).is_some()) {
            shared.entry(&record.program).or_default().insert(&entry.name);
        }
    }
    let most = shared.values().map(BTreeSet::len).max().unwrap_or_default();
    let own = shared.into_iter().filter(|(_, names)| names.len() == most);
    own.map(|(program, _)| program.to_owned()).collect()
}

/// Returns the job that runs stored jobs of this name.
fn find<'c>(contract: &'c Contract, name: &str) -> Option<&'c JobContract> {
    let called = |job: &&JobContract| job.aliases.iter().any(|alias| alias == name);
    contract.jobs.get(name).or_else(|| contract.jobs.values().find(called))
}

struct Reading<'c> {
    contract: &'c Contract,
    /// The live workers of other programs.
    others: Vec<NodeRecord>,
    found: BTreeMap<(String, StoredKind, StrandedReason), Stranded>,
    review: StoredReview,
}

impl Reading<'_> {
    fn job(&mut self, job: &JobRecord, now: Timestamp) {
        let kind = match (job.state, job.paused_from) {
            (JobState::Failed, _) | (_, Some(JobState::Failed)) => StoredKind::Archived,
            (JobState::Running, _) => StoredKind::Queued,
            _ if job.due > now => StoredKind::Scheduled,
            _ => StoredKind::Queued,
        };
        let id = job.id.to_string();
        self.spec(&job.spec, kind, &id);
        self.callbacks(&job.spec, &id);
    }

    fn schedule(&mut self, schedule: &ScheduleRecord) {
        // A withdrawn schedule does not fire.
        if schedule.declared.as_ref().is_some_and(|declared| declared.withdrawn) {
            return;
        }
        self.spec(&schedule.spec, StoredKind::Recurring, &schedule.name);
        self.callbacks(&schedule.spec, &schedule.name);
    }

    fn callbacks(&mut self, spec: &JobSpec, example: &str) {
        let mut left: Vec<&JobSpec> =
            spec.on_success.iter().chain(&spec.on_failure).map(AsRef::as_ref).collect();
        while let Some(callback) = left.pop() {
            self.spec(callback, StoredKind::Callback, example);
            let next = callback.on_success.iter().chain(&callback.on_failure);
            left.extend(next.map(AsRef::as_ref));
        }
    }

    fn spec(&mut self, spec: &JobSpec, kind: StoredKind, example: &str) {
        let (reason, problem) = match examine(self.contract, spec) {
            Examined::Fits => return self.review.checked += 1,
            Examined::Sealed => {
                *self.review.not_checked.entry(spec.name.clone()).or_default() += 1;
                return;
            }
            Examined::Stranded(reason, problem) => (reason, problem),
        };
        let waits = matches!(reason, StrandedReason::UnknownName | StrandedReason::TooNew);
        let knows = |node: &NodeRecord| node.info.known.knows(&spec.name, spec.version);
        if waits && self.others.iter().any(knows) {
            self.review.of_other_programs += 1;
            return;
        }
        self.review.checked += 1;
        let found = self.found.entry((spec.name.clone(), kind, reason)).or_insert_with(|| {
            let (job, example) = (spec.name.clone(), example.to_owned());
            Stranded { job, kind, reason, count: 0, problem, example }
        });
        found.count += 1;
    }
}

enum Examined {
    Fits,
    Sealed,
    Stranded(StrandedReason, String),
}

fn examine(contract: &Contract, spec: &JobSpec) -> Examined {
    let Some(job) = find(contract, &spec.name) else {
        let problem = "no job of the lock file has this name or alias".to_owned();
        return Examined::Stranded(StrandedReason::UnknownName, problem);
    };
    let (stored, present) = (spec.version, job.version);
    if stored > present {
        let problem =
            format!("the arguments have version {stored}, and the job has version {present}");
        return Examined::Stranded(StrandedReason::TooNew, problem);
    }
    if let Some(oldest) = job.upgrades_from.filter(|_| stored < present) {
        if stored >= oldest {
            return Examined::Fits;
        }
        let problem = format!(
            "the arguments have version {stored}, and the oldest that is upgraded is {oldest}"
        );
        return Examined::Stranded(StrandedReason::TooOld, problem);
    }
    let payload = match Envelope::parse(&spec.payload) {
        Ok(Some(Envelope { content: Content::Sealed(_), .. })) => return Examined::Sealed,
        Ok(Some(Envelope { content: Content::Plain(arguments), .. })) => arguments.as_bytes(),
        _ => &spec.payload,
    };
    let problem = match serde_json::from_slice::<Value>(payload) {
        Err(_) => return Examined::Stranded(StrandedReason::Arguments, "$ is not JSON".to_owned()),
        Ok(value) => job.check_stored(&value).err(),
    };
    match problem {
        None => Examined::Fits,
        Some(mistake) => {
            let problem = format!("{} {}", brief(&mistake.path), mistake.problem);
            Examined::Stranded(StrandedReason::Arguments, problem)
        }
    }
}
