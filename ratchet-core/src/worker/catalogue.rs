//! The entries that a worker records in the catalogue when it joins.

use ratchet_store::model::{CatalogueArg, CatalogueEntry};

use crate::job::{ArgDef, JobDef};
use crate::runtime::Core;

/// The maximum length of a recorded doc comment, in bytes.
const DOCS: usize = 2000;

/// Returns an entry for each job of the registry, ordered by name.
pub(super) fn entries(core: &Core) -> Vec<CatalogueEntry> {
    let mut entries: Vec<_> = core.resolver.all().iter().map(|job| entry(core, &job.def)).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

fn entry(core: &Core, def: &JobDef) -> CatalogueEntry {
    let mut entry = CatalogueEntry::new(core.spec_with_callbacks(def, Vec::new()));
    entry.aliases = def.aliases.iter().map(|alias| (*alias).to_owned()).collect();
    entry.docs = text(def.docs);
    entry.args = def.args.iter().map(argument).collect();
    entry.delay = def.delay;
    entry.schedule = def.cron.as_ref().map(|cron| cron.expression.to_owned());
    entry
}

fn argument(def: &ArgDef) -> CatalogueArg {
    let mut argument = CatalogueArg::new(def.name, def.ty);
    argument.aliases = def.aliases.iter().map(|alias| (*alias).to_owned()).collect();
    argument.docs = text(def.docs);
    let path = def.ty.split('<').next().unwrap_or_default();
    let is_option = path.rsplit("::").next().is_some_and(|name| name.trim() == "Option");
    argument.required = !def.has_default && !is_option;
    argument.secret = def.secret;
    argument
}

fn text(docs: &str) -> String {
    docs[..docs.floor_char_boundary(DOCS)].trim().to_owned()
}
