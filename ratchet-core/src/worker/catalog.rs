//! The entries that a worker records in the catalog when it joins.

use ratchet_contract::{Contract, JobContract};
use ratchet_store::model::{CatalogArg, CatalogEntry, ConcurrencyKey};

use crate::contract::describe;
use crate::job::{ArgDef, JobDef, Registration};
use crate::runtime::Core;

/// The maximum length of a recorded doc comment, in bytes.
const DOCS: usize = 2000;

/// Returns an entry for each job of the registry, ordered by name.
pub(super) fn entries(core: &Core) -> Vec<CatalogEntry> {
    let mut entries: Vec<_> = core.resolver.all().iter().map(|job| entry(core, job)).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

fn entry(core: &Core, job: &Registration) -> CatalogEntry {
    let def: &JobDef = &job.def;
    let mut entry = CatalogEntry::new(core.spec_with_callbacks(def, Vec::new()));
    entry.aliases = def.aliases.iter().map(|alias| (*alias).to_owned()).collect();
    entry.docs = text(def.docs);
    entry.args = def.args.iter().map(argument).collect();
    entry.delay = def.delay;
    entry.schedule = def.cron.as_ref().map(|cron| cron.expression.to_owned());
    entry.concurrency_limit = def.concurrency_limit;
    entry.order = def.order;
    entry.idempotency_within = def.idempotency_within;
    if let (None, Some(limit)) = (def.keys.concurrency, def.concurrency_limit) {
        // A `single_instance` job without a template.
        let key = def.instance_key().to_owned();
        entry.template.concurrency = Some(ConcurrencyKey { key, limit });
    }
    let contract = contract(job);
    entry.checks = contract.jobs.get(def.name).map(JobContract::compiled);
    entry.shape = Some(contract.to_string().into());
    entry.signed = core.protector.as_ref().is_some_and(|protector| protector.requires_signatures());
    entry
}

fn argument(def: &ArgDef) -> CatalogArg {
    let mut argument = CatalogArg::new(def.name, def.ty);
    argument.aliases = def.aliases.iter().map(|alias| (*alias).to_owned()).collect();
    argument.docs = text(def.docs);
    let path = def.ty.split('<').next().unwrap_or_default();
    let is_option = path.rsplit("::").next().is_some_and(|name| name.trim() == "Option");
    argument.required = !def.has_default && !is_option;
    argument.secret = def.has_secret();
    argument
}

/// Returns the contract of a job, without docs and examples.
fn contract(job: &Registration) -> Contract {
    let mut contract = describe([*job]).contract;
    for job in contract.jobs.values_mut() {
        job.docs.clear();
        job.payloads.clear();
        for argument in &mut job.arguments {
            argument.docs.clear();
            argument.default.take_if(|_| argument.secret);
        }
    }
    contract
}

fn text(docs: &str) -> String {
    docs[..docs.floor_char_boundary(DOCS)].trim().to_owned()
}
