//! The store that a command works on.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ratchet_core::Store;

use crate::exit::{ExitStatus, Failure};

/// The connections of a command for operators, which does one thing after another.
#[cfg(feature = "postgres")]
const COMMAND_CONNECTIONS: u32 = 2;

/// Where the jobs are: a SQLite file or a PostgreSQL database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// `sqlite:jobs.db`
    Sqlite(PathBuf),
    /// `postgres://user:password@host/database`
    Postgres { url: String, schema: Option<String> },
}

impl Target {
    /// Reads `sqlite:PATH` or `postgres://…`.
    pub(crate) fn parse(text: &str, schema: Option<&str>) -> Result<Self, Failure> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres { url: text.to_owned(), schema: schema.map(str::to_owned) });
        }
        if schema.is_some() {
            return Err(Failure::usage(
                "`--schema` needs a PostgreSQL database; a SQLite file has no schemas",
            ));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:"));
        match path {
            Some(path) if !path.is_empty() => Ok(Self::Sqlite(PathBuf::from(path))),
            _ => Err(Failure::usage(format!(
                "`{text}` is not a store; write `sqlite:jobs.db` or `postgres://user@host/database`"
            ))),
        }
    }

    /// Opens the store. It must exist: a command for operators creates and migrates nothing.
    pub(crate) async fn open(&self) -> Result<Arc<dyn Store>, Failure> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => {
                if !path.exists() {
                    let message = format!(
                        "there is no file {}; `ratchet migrate up` creates it",
                        path.display()
                    );
                    return Err(Failure::new(ExitStatus::Unreachable, message));
                }
                let store =
                    ratchet_sqlite::SqliteStore::options(path).without_migrations().open().await;
                Ok(Arc::new(store.map_err(|error| self.cannot_open(&error))?))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres { .. } => {
                let options =
                    self.postgres()?.without_migrations().connections(COMMAND_CONNECTIONS);
                let store = ratchet_pg::PgStore::open(options).await;
                Ok(Arc::new(store.map_err(|error| self.cannot_open(&error))?))
            }
            #[allow(unreachable_patterns)] // reachable without one of the features
            _ => Err(Failure::usage(format!("this program was built without support for {self}"))),
        }
    }

    /// Opens the store for a worker, with as many connections as a worker needs.
    pub(crate) async fn open_for_worker(&self, migrate: bool) -> Result<Arc<dyn Store>, Failure> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => {
                let options = ratchet_sqlite::SqliteStore::options(path);
                let options = if migrate { options } else { options.without_migrations() };
                let store = options.open().await;
                Ok(Arc::new(store.map_err(|error| self.cannot_open(&error))?))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres { .. } => {
                let options = self.postgres()?;
                let options = if migrate { options } else { options.without_migrations() };
                let store = ratchet_pg::PgStore::open(options).await;
                Ok(Arc::new(store.map_err(|error| self.cannot_open(&error))?))
            }
            #[allow(unreachable_patterns)] // reachable without one of the features
            _ => self.open().await,
        }
    }

    /// Creates or updates the tables.
    pub(crate) async fn migrate(&self) -> Result<(), Failure> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => {
                let migrated = ratchet_sqlite::SqliteStore::options(path).migrate().await;
                migrated.map_err(|error| self.cannot_open(&error))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres { .. } => {
                let migrated = self.postgres()?.migrate().await;
                migrated.map_err(|error| self.cannot_open(&error))
            }
            #[allow(unreachable_patterns)] // reachable without one of the features
            _ => self.open().await.map(drop),
        }
    }

    /// Returns the statements that create or update the tables, or `None` if nothing is missing.
    pub(crate) async fn migration_script(&self) -> Result<Option<String>, Failure> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => {
                let script = ratchet_sqlite::SqliteStore::options(path).migration_script().await;
                script.map_err(|error| self.cannot_open(&error))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres { .. } => {
                let script = self.postgres()?.migration_script().await;
                script.map_err(|error| self.cannot_open(&error))
            }
            #[allow(unreachable_patterns)] // reachable without one of the features
            _ => self.open().await.map(|_| None),
        }
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(&self) -> Result<ratchet_pg::PgOptions, Failure> {
        let Self::Postgres { url, schema } = self else {
            return Err(Failure::usage(format!("{self} is not a PostgreSQL database")));
        };
        let options = ratchet_pg::PgOptions::new(url).map_err(|error| self.cannot_open(&error))?;
        Ok(match schema {
            Some(schema) => options.schema(schema),
            None => options,
        })
    }

    fn cannot_open(&self, error: &ratchet_core::StoreError) -> Failure {
        let error = crate::exit::with_sources(error);
        Failure::new(ExitStatus::Unreachable, format!("cannot open {self}: {error}"))
    }
}

/// Displays the store without its password.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres { url, schema } => {
                f.write_str(&without_password(url))?;
                match schema {
                    Some(schema) => write!(f, " (schema {schema})"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Removes the password and the parameters, which may contain another one, from a connection URL.
fn without_password(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres".to_owned() };
    // The last `@` separates the credentials: a password that was not encoded may contain others.
    let Some((credentials, host)) = rest.rsplit_once('@') else { return url.to_owned() };
    let user = credentials.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}@{host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_target_has_no_password() {
        for (url, shown) in [
            ("postgres://shop:s3cret@db/shop", "postgres://shop@db/shop"),
            ("postgres://shop:s3c@ret@db:5432/shop", "postgres://shop@db:5432/shop"),
            ("postgresql://db/shop?password=s3cret", "postgresql://db/shop"),
            ("postgres://shop@db", "postgres://shop@db"),
        ] {
            let target = Target::parse(url, None).expect(url);
            assert_eq!(target.to_string(), shown);
        }
    }

    #[test]
    fn what_is_not_a_store_is_a_usage_error() {
        for text in ["jobs.db", "sqlite:", "mysql://db", ""] {
            let error = Target::parse(text, None).expect_err(text);
            assert_eq!(error.status, ExitStatus::Usage, "{text}");
        }
        assert!(Target::parse("sqlite:jobs.db", Some("other")).is_err());
        assert_eq!(
            Target::parse("sqlite:a.db", None).expect("reads"),
            Target::Sqlite("a.db".into())
        );
        assert_eq!(
            Target::parse("sqlite:///a.db", None).expect("reads"),
            Target::Sqlite("/a.db".into())
        );
    }
}
