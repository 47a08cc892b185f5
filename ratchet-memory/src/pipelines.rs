//! Pipelines that a job accepts, and the admission of their hand-offs.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Acceptor, Declarations, HandOffAdmission, HandOffStats, JobId, LATENCY_SAMPLE, NewAdmission,
    PipelineRecord,
};
use ratchet_store::rules;

#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// By name.
    pub(super) accepted: BTreeMap<String, Accepted>,
    /// In the order of their commits.
    admissions: Vec<Admitted>,
}

#[derive(Debug)]
pub(super) struct Accepted {
    acceptor: Acceptor,
    program: String,
    pub(super) refusals: u64,
}

#[derive(Debug)]
struct Admitted {
    job: JobId,
    admission: HandOffAdmission,
    /// Whether it still counts toward the backlog while its job has not ended.
    open: bool,
}

impl Pipelines {
    /// Removes admissions by their job and by the job that handed over.
    pub(super) fn erase(&mut self, erased: impl Fn(JobId, JobId) -> bool) {
        self.admissions.retain(|it| !erased(it.job, it.admission.from));
    }

    /// Removes the admissions of hand-offs, given by pipeline and key.
    pub(super) fn erase_keys(&mut self, erased: &HashSet<(String, String)>) {
        let place = |it: &HandOffAdmission| (it.pipeline.clone(), it.key.clone());
        self.admissions.retain(|it| !erased.contains(&place(&it.admission)));
    }

    pub(super) fn admission(&self, job: JobId) -> Option<HandOffAdmission> {
        let mut admitted = self.admissions.iter();
        admitted.find(|admitted| admitted.job == job).map(|admitted| admitted.admission.clone())
    }
}

impl Tables {
    pub(super) fn declare_pipelines(
        &mut self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
        now: Timestamp,
    ) -> Vec<String> {
        if !self.nodes.are_newest(declarations) {
            return Vec::new();
        }
        let program = &declarations.program;
        let declared = |name: &String| acceptors.iter().any(|it| it.pipeline == *name);
        let accepted = &mut self.pipelines.accepted;
        accepted.retain(|name, accepted| accepted.program != *program || declared(name));
        let mut refused = Vec::new();
        for acceptor in acceptors {
            let (acceptor, program) = (acceptor.clone(), program.clone());
            match accepted.get_mut(&acceptor.pipeline) {
                Some(other) if other.program != program && self.nodes.runs(&other.program, now) => {
                    refused.push(acceptor.pipeline);
                }
                Some(own) => (own.acceptor, own.program) = (acceptor, program),
                None => {
                    let name = acceptor.pipeline.clone();
                    accepted.insert(name, Accepted { acceptor, program, refusals: 0 });
                }
            }
        }
        refused
    }

    pub(super) fn accepted_pipelines(&self, pipeline: Option<&str>) -> Vec<PipelineRecord> {
        let wanted = |name: &&String| pipeline.is_none_or(|wanted| wanted == name.as_str());
        let accepted = self.pipelines.accepted.iter().filter(|(name, _)| wanted(name));
        let record = |(name, accepted): (&String, &Accepted)| {
            let waiting = self.items.hand_offs.values();
            let waiting =
                waiting.filter(|it| it.hand_off.handed.pipeline == *name && !it.finished).count();
            let backlog = (waiting + self.open_admissions(name).count()) as u64;
            let (acceptor, program) = (accepted.acceptor.clone(), accepted.program.clone());
            PipelineRecord::stored(acceptor, program, backlog, accepted.refusals)
        };
        accepted.map(record).collect()
    }

    pub(super) fn admit(
        &mut self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
        now: Timestamp,
    ) -> Result<Vec<bool>, StoreError> {
        rules::admission::check(pipeline, &admissions)?;
        let mut answers = Vec::with_capacity(admissions.len());
        for NewAdmission { key, job } in admissions {
            let id = job.id;
            let place = (pipeline.to_owned(), key);
            let waiting = self.items.hand_offs.get(&place).filter(|it| !it.finished);
            if let Some(waiting) = waiting {
                let admission = HandOffAdmission {
                    pipeline: place.0.clone(),
                    key: place.1.clone(),
                    from: waiting.hand_off.job,
                    handed_at: waiting.hand_off.at,
                    admitted_at: now,
                };
                self.insert(vec![job], now).map_err(|refused| {
                    StoreError::new(ratchet_store::StoreErrorKind::Data, refused.to_string())
                })?;
                if let Some(handed) = self.items.hand_offs.get_mut(&place) {
                    handed.finished = true;
                }
                self.pipelines.admissions.push(Admitted { job: id, admission, open: true });
            }
            let made = self.pipelines.admission(id);
            answers.push(made.is_some_and(|made| (made.pipeline, made.key) == place));
        }
        let counts =
            |job: &JobId| self.jobs.get(job).is_some_and(|row| rules::admission::counts(&row.job));
        for admitted in &mut self.pipelines.admissions {
            if admitted.admission.pipeline == pipeline && !counts(&admitted.job) {
                admitted.open = false;
            }
        }
        Ok(answers)
    }

    pub(super) fn hand_off_stats(&self, pipeline: &str, now: Timestamp) -> HandOffStats {
        let mut stats = HandOffStats::default();
        let waited =
            |since: Timestamp| Duration::try_from(now.duration_since(since)).unwrap_or_default();
        let mine = self.items.hand_offs.values();
        for handed in mine.filter(|it| it.hand_off.handed.pipeline == pipeline) {
            stats.repeats += handed.hand_off.repeats;
            if handed.finished {
                stats.finished += 1;
            } else {
                stats.backlog += 1;
                stats.lag = stats.lag.max(waited(handed.hand_off.at));
            }
        }
        for admission in self.open_admissions(pipeline) {
            stats.finished -= 1;
            stats.backlog += 1;
            stats.lag = stats.lag.max(waited(admission.handed_at));
        }
        let admissions = self.pipelines.admissions.iter().map(|it| &it.admission);
        let latencies: Vec<_> = admissions
            .rev()
            .filter(|it| it.pipeline == pipeline)
            .map(HandOffAdmission::latency)
            .collect();
        let latest = &latencies[..latencies.len().min(LATENCY_SAMPLE)];
        stats.with_admissions(latencies.len() as u64, latest)
    }

    /// Returns the admissions of a pipeline that count toward its backlog.
    fn open_admissions<'a>(
        &'a self,
        pipeline: &'a str,
    ) -> impl Iterator<Item = &'a HandOffAdmission> {
        let all = self.pipelines.admissions.iter();
        let mine = all.filter(move |it| it.open && it.admission.pipeline == pipeline);
        mine.filter(|it| {
            self.jobs.get(&it.job).is_some_and(|row| rules::admission::counts(&row.job))
        })
        .map(|it| &it.admission)
    }
}
