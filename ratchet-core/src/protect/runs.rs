//! Encrypts what a run of a confidential job writes: outputs, errors, notes, rejects, hand-offs and notices.

use ratchet_store::model::{
    JobId, JobOutcome, NOT_KEPT, NewGraph, NewHandOff, NewJob, NewReject, Notice, RunNotes,
    Settlement, Verdict,
};

use super::Protector;
use super::message::Owner;

impl Protector {
    /// Protects everything that a settlement writes.
    pub(super) async fn protect_settlement(&self, settlement: &mut Settlement) {
        let mut dropped = Vec::new();
        let mut kept = Vec::with_capacity(settlement.spawned.len());
        for mut job in std::mem::take(&mut settlement.spawned) {
            match self.protect(&mut job, false).await {
                Ok(()) => kept.push(job),
                Err(error) => dropped.push(dropped_child(&job, &error.to_string())),
            }
        }
        settlement.spawned = kept;
        let mut graphs = Vec::with_capacity(settlement.graphs.len());
        for mut graph in std::mem::take(&mut settlement.graphs) {
            match self.protect_graph(&mut graph).await {
                Ok(()) => graphs.push(graph),
                Err(error) => {
                    let name = graph.root().map_or("", |root| root.name.as_str());
                    dropped.push(format!("graph `{name}` was dropped: {error}"));
                }
            }
        }
        settlement.graphs = graphs;
        settlement.notes.warnings.extend(dropped);
        let Some(confidential) = settlement.notes.confidential.clone() else { return };
        let (id, tenant) = (settlement.token.job, confidential.tenant);
        self.unwrap_for(tenant.as_deref()).await;
        self.seal_run(id, tenant.as_deref(), settlement);
    }

    /// Signs and encrypts the jobs of a graph.
    pub(crate) async fn protect_graph(
        &self,
        graph: &mut NewGraph,
    ) -> Result<(), ratchet_keyring::KeyError> {
        let keyed = graph.key.is_some();
        for job in &mut graph.jobs {
            self.protect(job, keyed).await?;
        }
        Ok(())
    }

    /// Unwraps the key of a tenant, so that the texts of a run can be encrypted.
    async fn unwrap_for(&self, tenant: Option<&str>) {
        // An error is reported when the first text is encrypted.
        let _ = self.with_keys(|| self.keyring.seal(tenant, b"", b"")).await;
    }

    fn seal_run(&self, id: JobId, tenant: Option<&str>, settlement: &mut Settlement) {
        let owner = Owner::Job(id);
        match &mut settlement.verdict {
            Verdict::Succeed { output } => {
                if let Err(error) = self.seal_output(owner, tenant, output) {
                    let warning = format!("{NOT_KEPT}: {error}");
                    settlement.notes.warnings.push(warning);
                }
            }
            Verdict::Retry { failure, .. } => self.seal_failure(owner, tenant, failure),
            Verdict::Defer { note, .. } => self.seal_text(owner, tenant, "note", note),
            Verdict::Fail { envelope, .. } => self.seal_envelope(owner, tenant, envelope),
            Verdict::Release | Verdict::Rescue { .. } => {}
        }
        self.seal_notes(id, tenant, &mut settlement.notes);
        for reject in &mut settlement.rejects {
            self.seal_reject(owner, tenant, reject);
        }
        for hand_off in &mut settlement.hand_offs {
            self.seal_hand_off(owner, tenant, hand_off);
        }
        for notice in &mut settlement.notices {
            match notice {
                Notice::Alert { envelope, .. } | Notice::DeadLetter(envelope) => {
                    self.seal_envelope(owner, tenant, envelope);
                }
                Notice::Outcome(outcome) => self.seal_outcome(owner, tenant, outcome),
            }
        }
    }

    fn seal_output(
        &self,
        owner: Owner<'_>,
        tenant: Option<&str>,
        output: &mut Option<String>,
    ) -> Result<(), ratchet_keyring::KeyError> {
        let Some(json) = output.take() else { return Ok(()) };
        *output = Some(self.keyring.seal_json(tenant, &owner.field("output"), &json)?);
        Ok(())
    }

    fn seal_outcome(&self, owner: Owner<'_>, tenant: Option<&str>, outcome: &mut JobOutcome) {
        // The settlement has a warning if the output cannot be kept.
        let _ = self.seal_output(owner, tenant, &mut outcome.output);
        if let Some(envelope) = &mut outcome.envelope {
            self.seal_envelope(owner, tenant, envelope);
        }
    }

    /// Encrypts the notes of a run.
    pub(super) fn seal_notes(&self, id: JobId, tenant: Option<&str>, notes: &mut RunNotes) {
        let owner = Owner::Job(id);
        if let Some(progress) = &mut notes.progress {
            self.seal_text(owner, tenant, "progress", &mut progress.message);
        }
        if let Some(checkpoint) = notes.checkpoint.take() {
            match self.keyring.seal_value(tenant, &owner.field("checkpoint"), &checkpoint) {
                Ok(sealed) => notes.checkpoint = Some(sealed),
                Err(error) => notes.warnings.push(format!("the checkpoint was not kept: {error}")),
            }
        }
        for line in &mut notes.logs {
            self.seal_text(owner, tenant, "log", &mut line.message);
        }
        for warning in &mut notes.warnings {
            self.seal_text(owner, tenant, "warning", warning);
        }
    }

    /// Encrypts notes that a run writes before it ends.
    pub(super) async fn protect_notes(&self, id: JobId, notes: &mut RunNotes) {
        if let Some(confidential) = notes.confidential.clone() {
            self.unwrap_for(confidential.tenant.as_deref()).await;
            self.seal_notes(id, confidential.tenant.as_deref(), notes);
        }
    }

    fn seal_reject(&self, owner: Owner<'_>, tenant: Option<&str>, reject: &mut NewReject) {
        let NewReject { index, message, payload, .. } = reject;
        self.seal_text(owner, tenant, &format!("reject {index} error"), message);
        if let Some(json) = payload.take() {
            let field = owner.field(&format!("reject {index} item"));
            *payload = self.keyring.seal_json(tenant, &field, &json).ok();
        }
    }

    fn seal_hand_off(&self, owner: Owner<'_>, tenant: Option<&str>, hand_off: &mut NewHandOff) {
        let field = owner.field(&hand_off_field(&hand_off.pipeline, &hand_off.key));
        let sealed = self.keyring.seal_value(tenant, &field, &hand_off.checkpoint);
        hand_off.checkpoint = sealed
            .unwrap_or_else(|error| serde_json::Value::String(super::texts::not_kept(&error)));
    }
}

/// The field name of a hand-off. The length of the pipeline makes it unambiguous.
pub(super) fn hand_off_field(pipeline: &str, key: &str) -> String {
    format!("hand-off {} {pipeline} {key}", pipeline.len())
}

fn dropped_child(job: &NewJob, why: &str) -> String {
    format!("job `{}` ({}) was dropped: {why}", job.spec.name, job.id)
}
