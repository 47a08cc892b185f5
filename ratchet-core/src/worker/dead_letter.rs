//! What the envelope of a dead letter says about the worker, beyond the decision.

use std::sync::OnceLock;

use ratchet_store::model::{JobSpec, TerminalReason, Verdict};

use crate::client::masked_arguments;
use crate::runtime::Core;

/// Returns the name of this host.
pub(super) fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default().trim().to_owned()
    })
}

/// Completes the envelope of a job that becomes a dead letter: the host of its node and, for a poisoned job, its
/// arguments without the secret ones. No handler can say what a poisoned job was about.
pub(super) fn complete(core: &Core, spec: &JobSpec, verdict: &mut Verdict, host: &str) {
    let Verdict::Fail { envelope, .. } = verdict else { return };
    host.clone_into(&mut envelope.host);
    // The arguments of a confidential job are stored in its encrypted payload alone.
    if envelope.reason == TerminalReason::Poisoned && spec.confidential().is_none() {
        envelope.arguments = Some(masked_arguments(core, spec));
    }
}
