//! Reads settings from environment variables.

use std::fmt;

use super::Config;
use super::setting::{SETTINGS, Setting};
use crate::failure::DefaultSanitizer;

/// An error returned when environment variables cannot be read. Lists all of them.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::{Config, EnvError};
///
/// fn configuration() -> Result<Config, EnvError> {
///     Config::from_env().inspect_err(|error| {
///         eprintln!("{} variables are wrong", error.variables.len());
///         eprintln!("{error}"); // one line for each of them
///     })
/// }
/// # let _ = configuration;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnvError {
    /// The variables that cannot be read, in the order of [`Config::settings`].
    pub variables: Vec<BadVariable>,
}

/// An environment variable whose value is not as expected.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::Config;
///
/// if let Err(error) = Config::default().read_env() {
///     for bad in &error.variables {
///         println!("{} must be {}, not {}", bad.variable, bad.expects, bad.value);
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadVariable {
    /// The name of the variable.
    pub variable: &'static str,
    /// The value, without parts that look like secrets.
    pub value: String,
    /// What the value must be.
    pub expects: &'static str,
}

impl fmt::Display for BadVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, value, expects } = self;
        write!(f, "`{variable}` is `{value}`, but must be {expects}")
    }
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be read from the environment:")?;
        self.variables.iter().try_for_each(|variable| write!(f, "\n  {variable}"))
    }
}

impl std::error::Error for EnvError {}

/// Variables that the command line reads, see `ratchet-cli`.
const COMMAND_LINE: [&str; 2] = ["RATCHET_STORE", "RATCHET_ACTOR"];

impl Config {
    /// Returns the default configuration with the settings of the environment, see [`Config::settings`].
    ///
    /// A variable `RATCHET_…` that no setting has is logged as a warning.
    pub fn from_env() -> Result<Self, EnvError> {
        let mut config = Self::default();
        config.read_env()?;
        Ok(config)
    }

    /// Sets what the environment sets. Other settings are not changed. If a variable cannot be read, nothing is
    /// changed.
    pub fn read_env(&mut self) -> Result<(), EnvError> {
        let lossy = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (lossy(name), lossy(value)));
        for warning in self.read(variables)? {
            tracing::warn!("{warning}");
        }
        Ok(())
    }

    /// Reads settings from variables. Returns a warning for every variable that has no setting.
    fn read(
        &mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Vec<String>, EnvError> {
        let mut variables: Vec<_> =
            variables.filter(|(name, _)| name.starts_with("RATCHET_")).collect();
        variables.sort();
        let mut config = self.clone();
        let mut bad = Vec::new();
        for setting in SETTINGS {
            let Some((_, value)) = variables.iter().find(|(name, _)| name == setting.env) else {
                continue;
            };
            if (setting.read)(&mut config, value.trim()).is_none() {
                bad.push(setting.refuse(value));
            }
        }
        if !bad.is_empty() {
            return Err(EnvError { variables: bad });
        }
        *self = config;
        let known = |name: &str| {
            SETTINGS.iter().any(|setting| setting.env == name) || COMMAND_LINE.contains(&name)
        };
        let unknown = variables.iter().filter(|(name, _)| !known(name));
        Ok(unknown.map(|(name, _)| unknown_variable(name)).collect())
    }
}

impl Setting {
    fn refuse(&self, value: &str) -> BadVariable {
        const LONGEST: usize = 100;
        let value = DefaultSanitizer { max_len: LONGEST }.clean(value);
        BadVariable { variable: self.env, value, expects: self.expects }
    }
}

fn unknown_variable(name: &str) -> String {
    let name: String = name.chars().take(100).collect();
    let nearest = SETTINGS.iter().map(|setting| (distance(&name, setting.env), setting.env)).min();
    match nearest {
        Some((steps, nearest)) if steps <= 3 => {
            format!("no setting has the environment variable `{name}`; did you mean `{nearest}`?")
        }
        _ => format!("no setting has the environment variable `{name}`; it is ignored"),
    }
}

/// Returns how many characters must be inserted, removed or replaced to turn one text into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::RunMode;
    use ratchet_store::model::{Backoff, Priority};

    fn read(variables: &[(&str, &str)]) -> Result<(Config, Vec<String>), EnvError> {
        let mut config = Config::default();
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let warnings = config.read(owned)?;
        Ok((config, warnings))
    }

    #[test]
    fn s_12_the_environment_sets_every_kind_of_setting() {
        let (config, warnings) = read(&[
            ("RATCHET_CONCURRENCY", " 8 "),
            ("RATCHET_LEASE", "30s"),
            ("RATCHET_KEEP_FAILED", "forever"),
            ("RATCHET_QUEUES", "mail, reports"),
            ("RATCHET_RUN", "drain"),
            ("RATCHET_DEFAULT_BACKOFF", "fixed(2s)"),
            ("RATCHET_DEFAULT_PRIORITY", "high"),
            ("RATCHET_POLL_INTERVAL", "1s..10s"),
            ("PATH", "/bin"),
        ])
        .expect("reads");
        assert_eq!(warnings, [""; 0]);
        assert_eq!(config.concurrency, 8);
        assert_eq!((config.lease.as_secs(), config.heartbeat.as_secs()), (30, 10));
        assert_eq!(config.keep_failed, None);
        assert!(config.only_queues.iter().eq(["mail", "reports"]));
        assert_eq!(config.run, RunMode::Drain);
        assert_eq!(config.defaults.backoff, Backoff::fixed(Duration::from_secs(2)));
        assert_eq!(config.defaults.priority, Priority::High);
        assert_eq!(config.poll_interval, (Duration::from_secs(1), Duration::from_secs(10)));
        let (config, _) =
            read(&[("RATCHET_LEASE", "30s"), ("RATCHET_HEARTBEAT", "2s")]).expect("reads");
        assert_eq!(config.heartbeat.as_secs(), 2, "an explicit heartbeat wins");
    }

    #[test]
    fn s_12_all_bad_variables_are_reported_together_and_nothing_is_changed() {
        let mut config = Config::default();
        let variables = [
            ("RATCHET_CONCURRENCY", "many"),
            ("RATCHET_LEASE", "15"),
            ("RATCHET_MAX_BATCH", "7"),
            ("RATCHET_MAX_TIME", "postgres://admin:s3cret@db/prod"),
        ];
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let error = config.read(owned).expect_err("is refused");
        assert_eq!(
            error.to_string(),
            "the configuration cannot be read from the environment:\n  \
             `RATCHET_CONCURRENCY` is `many`, but must be a whole number, such as `8`\n  \
             `RATCHET_MAX_TIME` is `postgres://[REDACTED]@db/prod`, but must be a duration, such as `7d` or `1h30m`, or `forever`\n  \
             `RATCHET_LEASE` is `15`, but must be a duration, such as `500ms`, `30s` or `1h30m`"
        );
        assert_eq!(config, Config::default());
    }

    #[test]
    fn s_12_unknown_variables_are_reported_with_a_suggestion() {
        let (_, warnings) = read(&[
            ("RATCHET_CONCURENCY", "8"),
            ("RATCHET_SOMETHING_ELSE", "x"),
            ("RATCHET_STORE", "x"),
        ])
        .expect("reads");
        assert_eq!(
            warnings,
            [
                "no setting has the environment variable `RATCHET_CONCURENCY`; did you mean `RATCHET_CONCURRENCY`?",
                "no setting has the environment variable `RATCHET_SOMETHING_ELSE`; it is ignored",
            ]
        );
    }

    #[test]
    fn s_12_every_default_can_be_written_in_the_environment() {
        let defaults = Config::default();
        for setting in SETTINGS {
            let shown = setting.value(&defaults);
            if shown == "none" && setting.name.ends_with("_queues") {
                continue;
            }
            let mut config = Config::default();
            (setting.read)(&mut config, &shown).unwrap_or_else(|| panic!("{setting:?}: {shown}"));
            assert_eq!(config, defaults, "{setting:?}");
            assert_eq!(setting.env, format!("RATCHET_{}", setting.env_suffix()));
        }
    }

    impl Setting {
        /// The name of the variable follows from the name of the setting, except for the most used one.
        fn env_suffix(&self) -> String {
            if self.name == "only_queues" { "QUEUES".to_owned() } else { self.name.to_uppercase() }
        }
    }
}
