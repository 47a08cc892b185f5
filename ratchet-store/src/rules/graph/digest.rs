//! The digest of a graph, independent of its ids, so that a repeated submission is recognized.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::model::{GroupId, GroupRecord, NewGraph, NewJob, Wait, WaitMode};
use crate::rules::arguments;

/// Returns the name of a graph in the ledger of idempotency keys. It contains a space, so no job has the same name.
pub(crate) fn identity(root: &GroupRecord) -> String {
    format!("{} {}", root.kind, root.name)
}

/// Returns the digest of a graph: its groups, jobs with their arguments, and edges. As for single jobs, options such as
/// queue and delay are not included. The format must never change, because idempotency keys are kept permanently.
pub(crate) fn digest(graph: &NewGraph) -> [u8; 32] {
    digest_with(graph, |text, job| text.bytes(&arguments::digest(job)))
}

/// Returns the digest of the first format, which contains the arguments as they are stored.
pub(crate) fn digest_of_bytes(graph: &NewGraph) -> [u8; 32] {
    digest_with(graph, |text, job| text.bytes(&job.spec.payload))
}

fn digest_with(graph: &NewGraph, write_arguments: impl Fn(&mut Text, &NewJob)) -> [u8; 32] {
    let groups = graph.groups.iter().map(|group| group.id.uuid());
    let ids = groups.chain(graph.jobs.iter().map(|job| job.id.uuid()));
    let mut text = Text { hash: Sha256::new(), places: ids.zip(0..).collect() };
    text.number(graph.groups.len());
    for group in &graph.groups {
        text.word(&group.kind.to_string());
        text.word(&group.name);
        text.place(group.owner.map(GroupId::uuid));
        text.word(group.step.as_deref().unwrap_or_default());
        text.flag(group.sealed);
        text.mode(group.wait);
    }
    text.number(graph.jobs.len());
    for job in &graph.jobs {
        text.word(&job.spec.name);
        write_arguments(&mut text, job);
        text.flag(job.spec.step.is_some());
        let Some(step) = &job.spec.step else { continue };
        text.place(step.group.map(GroupId::uuid));
        text.word(step.name.as_deref().unwrap_or_default());
        text.flag(step.first_match);
        text.mode(step.wait);
        text.place(step.reports.map(GroupId::uuid));
        text.number(step.inputs.len());
        for input in &step.inputs {
            text.word(input.name.as_deref().unwrap_or_default());
            text.number(input.from.len());
            input.from.iter().for_each(|from| text.place(Some(from.uuid())));
            // Written only if present, so that older graphs keep their digests. No length begins with such a byte.
            if input.all {
                text.mark(1);
            }
            if let Some(argument) = &input.argument {
                text.mark(2);
                text.word(argument);
            }
        }
    }
    text.number(graph.edges.len());
    for edge in &graph.edges {
        text.place(Some(edge.parent.uuid()));
        text.place(Some(edge.child.uuid()));
        text.word(&serde_json::to_string(&edge.when).unwrap_or_default());
    }
    text.hash.finalize().into()
}

/// An unambiguous encoding: every part has a length prefix, and ids are replaced by their positions in the graph.
struct Text {
    hash: Sha256,
    places: BTreeMap<Uuid, u64>,
}

impl Text {
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.hash.update(bytes);
    }

    fn word(&mut self, word: &str) {
        self.bytes(word.as_bytes());
    }

    fn number(&mut self, number: usize) {
        self.hash.update((number as u64).to_be_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.hash.update([u8::from(flag)]);
    }

    fn mark(&mut self, mark: u8) {
        self.hash.update([mark]);
    }

    fn mode(&mut self, wait: Option<Wait>) {
        self.flag(wait.is_some_and(|wait| wait.mode == WaitMode::Any));
    }

    fn place(&mut self, id: Option<Uuid>) {
        let place = id.map(|id| self.places.get(&id).copied().unwrap_or(u64::MAX - 1));
        self.hash.update(place.unwrap_or(u64::MAX).to_be_bytes());
    }
}
