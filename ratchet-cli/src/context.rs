//! Named stores in a configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use etcetera::BaseStrategy;
use serde::Deserialize;

use crate::args::Global;
use crate::exit::Failure;
use crate::target::Target;

/// The configuration file: named stores.
///
/// ```toml
/// context = "staging"
///
/// [contexts.staging]
/// store = "postgres://shop@staging-db/shop"
///
/// [contexts.production]
/// store = "postgres://shop@db/shop"
/// production = true
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The context that is used without `--context`.
    context: Option<String>,
    #[serde(default)]
    contexts: BTreeMap<String, Context>,
}

/// One named store.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    store: String,
    schema: Option<String>,
    #[serde(default)]
    production: bool,
}

/// The store that the command line selects.
#[derive(Debug)]
pub(crate) struct Selected {
    pub(crate) target: Target,
    /// The name of the context, if one was used.
    pub(crate) context: Option<String>,
    /// Whether every change must be confirmed.
    pub(crate) production: bool,
}

/// Returns the store of `--store`, of the context, of `RATCHET_STORE`, or the default of the program, in this order.
pub(crate) fn select(global: &Global, default: Option<&str>) -> Result<Selected, Failure> {
    let direct = |store: &str| {
        let target = Target::parse(store, global.schema.as_deref())?;
        Ok(Selected { target, context: None, production: false })
    };
    if let Some(store) = &global.store {
        return direct(store);
    }
    let file = read(global.config.as_deref())?;
    let environment = env::var("RATCHET_STORE").ok().filter(|store| !store.is_empty());
    let name = match (&global.context, environment) {
        (Some(name), _) => name.clone(),
        (None, Some(store)) => return direct(&store),
        (None, None) => match (file.context, default) {
            (Some(name), _) => name,
            (None, Some(store)) => return direct(store),
            (None, None) => {
                return Err(Failure::usage(
                    "no store is given; write `--store sqlite:jobs.db`, or set RATCHET_STORE",
                ));
            }
        },
    };
    let Some(context) = file.contexts.get(&name) else {
        let known: Vec<_> = file.contexts.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(format!("there is no context `{name}`; the file has {known}")));
    };
    let schema = global.schema.as_deref().or(context.schema.as_deref());
    let target = Target::parse(&context.store, schema)?;
    Ok(Selected { target, context: Some(name), production: context.production })
}

/// Reads the configuration file. A file that was not named explicitly may be missing.
fn read(path: Option<&Path>) -> Result<File, Failure> {
    let named = path.is_some();
    let Some(path) = path.map(Path::to_owned).or_else(default_path) else {
        return Ok(File::default());
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !named => {
            return Ok(File::default());
        }
        Err(error) => {
            return Err(Failure::usage(format!("cannot read {}: {error}", path.display())));
        }
    };
    toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
}

fn default_path() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("ratchet").join("config.toml"))
}
