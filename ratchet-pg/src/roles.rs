//! The rights that a user of the database needs for one purpose, and no others.

use std::fmt;
use std::str::FromStr;

use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::error::store_error;
use crate::options::PgOptions;
use crate::runtime::StoreRuntime;
use crate::sql::{archive_schema, quote};
use crate::tls;

/// What a user of the database may do; see [`PgOptions::grants`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DatabaseRole {
    /// May call the SQL function `enqueue`, and reads no table. For programs in other languages.
    Submit,
    /// May read everything and change nothing. For `ratchet` and dashboards that only look.
    Read,
    /// May read everything, submit jobs, and act on jobs, queues, breakers and schedules. For operators and for
    /// applications that submit but run no worker.
    Operate,
    /// May also claim and settle jobs, and do the maintenance. For workers.
    Work,
    /// Owns the schema, so that it can migrate it. For the deployment.
    Migrate,
}

/// Tables that only a migration and the functions of the schema may change.
const OF_MIGRATIONS: [&str; 2] = ["migration", "part"];

/// The audit trail. Entries are added and never changed.
const APPEND_ONLY: &str = "audit";

/// Tables that only workers change.
const OF_WORKERS: [&str; 7] = ["catalog", "node", "leader", "stat", "stat_mark", "gauge", "deploy"];

/// Tables that the leader vacuums.
const VACUUMED: [&str; 4] = ["ready", "scheduled", "lease", "tally"];

/// Views for people. Nothing can be changed through them.
const VIEWS: [&str; 4] = ["v_jobs", "v_queues", "v_failures", "v_nodes"];

/// Functions without effects.
const PURE: [&str; 11] = [
    "instant_of(uuid)",
    "now_micros()",
    "id_at(bigint)",
    "key_digest(text, text)",
    "erased_use(text, text)",
    "sort_key(bigint, bigint)",
    "check_text(text, text, integer, boolean)",
    "canonical(jsonb)",
    "readable_time(bigint)",
    "readable_json(text)",
    "readable_json(bytea)",
];

const ENQUEUE: &str = "enqueue(text, jsonb, text, integer, timestamptz, text, text, text, text[], integer, text, text, \
                       interval, timestamptz)";

impl DatabaseRole {
    /// All roles.
    pub const ALL: [Self; 5] = [Self::Submit, Self::Read, Self::Operate, Self::Work, Self::Migrate];

    /// Returns the name of the role on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Read => "read",
            Self::Operate => "operate",
            Self::Work => "work",
            Self::Migrate => "migrate",
        }
    }

    fn grants(self, schema: &str, user: &str) -> Vec<String> {
        let archive = quote(&archive_schema(schema));
        let (schema, user) = (quote(schema), quote(user));
        // The user may have had another role before.
        let mut grants: Vec<_> = ["TABLES", "SEQUENCES", "FUNCTIONS"]
            .map(|kind| format!("REVOKE ALL ON ALL {kind} IN SCHEMA {schema} FROM {user}"))
            .into();
        grants.push(format!(
            "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} REVOKE ALL ON TABLES FROM {user}"
        ));
        grants.push(format!("GRANT USAGE ON SCHEMA {schema} TO {user}"));
        grants.push(format!("REVOKE ALL ON ALL TABLES IN SCHEMA {archive} FROM {user}"));
        grants.push(format!("REVOKE ALL ON SCHEMA {archive} FROM {user}"));
        let functions = |functions: &[&str]| {
            let named: Vec<_> = functions.iter().map(|name| format!("{schema}.{name}")).collect();
            format!("GRANT EXECUTE ON FUNCTION {} TO {user}", named.join(", "))
        };
        let tables = |names: &[&str]| {
            names.iter().map(|name| format!("{schema}.{name}")).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Submit => grants.push(functions(&[ENQUEUE])),
            Self::Read => {
                grants.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}"));
                grants.push(by_default(&schema, "SELECT", &user));
                grants.push(functions(&PURE));
                grants.push(format!("GRANT USAGE ON SCHEMA {archive} TO {user}"));
                grants.push(format!("GRANT SELECT ON {} TO {user}", of_archive(&archive)));
            }
            Self::Operate | Self::Work => {
                let rights = "SELECT, INSERT, UPDATE, DELETE";
                grants.push(format!("GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO {user}"));
                grants.push(by_default(&schema, rights, &user));
                grants.push(format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {user}"));
                grants.push(functions(&PURE));
                grants.push(functions(&[ENQUEUE]));
                let revoke = |rights: &str, names: &[&str]| {
                    format!("REVOKE {rights} ON {} FROM {user}", tables(names))
                };
                grants.push(format!("GRANT USAGE ON SCHEMA {archive} TO {user}"));
                grants.push(format!("GRANT {rights} ON {} TO {user}", of_archive(&archive)));
                grants.push(format!("REVOKE INSERT, UPDATE, DELETE ON {archive}.part FROM {user}"));
                grants.push(functions(&["drop_archive_part(bigint)"]));
                grants.push(revoke("INSERT, UPDATE, DELETE", &OF_MIGRATIONS));
                grants.push(revoke("INSERT, UPDATE, DELETE", &VIEWS));
                grants.push(revoke("UPDATE, DELETE", &[APPEND_ONLY]));
                if self == Self::Work {
                    grants.push(functions(&[
                        "make_parts(bigint, bigint)",
                        "drop_part(bigint, integer)",
                        "make_archive_parts(uuid[])",
                        "prepare_archive_part(bigint)",
                        "archive_part(bigint, integer)",
                    ]));
                    grants.push(maintain(&tables(&VACUUMED), &user));
                } else {
                    grants.push(revoke("INSERT, UPDATE, DELETE", &OF_WORKERS));
                }
            }
            Self::Migrate => {
                grants = vec![
                    format!("CREATE SCHEMA IF NOT EXISTS {schema}"),
                    format!("CREATE SCHEMA IF NOT EXISTS {archive}"),
                    owner_of_all(&schema, &user),
                    owner_of_all(&archive, &user),
                ];
            }
        }
        grants
    }
}

/// Returns the tables of the archive. Partitions are read and written through them.
fn of_archive(archive: &str) -> String {
    ["job", "outcome", "attempt", "note", "log", "part", "moved", "tally"]
        .map(|name| format!("{archive}.{name}"))
        .join(", ")
}

/// Lets a worker vacuum the tables that it changes most. Before PostgreSQL 17 only the owner may, and the vacuum of the
/// server does it later.
fn maintain(tables: &str, user: &str) -> String {
    let grant = format!("GRANT MAINTAIN ON {tables} TO {user}").replace('\'', "''");
    format!(
        "DO $$ BEGIN IF current_setting('server_version_num')::integer >= 170000 THEN EXECUTE '{grant}'; END IF; END $$"
    )
}

/// Covers the tables of later migrations.
fn by_default(schema: &str, rights: &str, user: &str) -> String {
    format!("ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT {rights} ON TABLES TO {user}")
}

/// Makes a user the owner of a schema and of everything in it.
fn owner_of_all(schema: &str, user: &str) -> String {
    let (schema, user) = (schema.replace('\'', "''"), user.replace('\'', "''"));
    format!(
        "DO $$ DECLARE command text; BEGIN
    FOR command IN
        SELECT format('ALTER SCHEMA %s OWNER TO %s', '{schema}', '{user}')
        UNION ALL SELECT format('ALTER TABLE %s OWNER TO %s', oid::regclass, '{user}') FROM pg_class
            WHERE relnamespace = '{schema}'::regnamespace AND relkind IN ('r', 'p', 'v')
        UNION ALL SELECT format('ALTER FUNCTION %s OWNER TO %s', oid::regprocedure, '{user}') FROM pg_proc
            WHERE pronamespace = '{schema}'::regnamespace
    LOOP EXECUTE command; END LOOP;
END $$"
    )
}

impl fmt::Display for DatabaseRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returned for a text that names no [`DatabaseRole`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownRole;

impl fmt::Display for UnknownRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the role must be one of submit, read, operate, work and migrate")
    }
}

impl std::error::Error for UnknownRole {}

impl FromStr for DatabaseRole {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or(UnknownRole)
    }
}

impl PgOptions {
    /// Returns the statements that give a user of the database the rights of a role. Rights of a role that the user had
    /// before are removed. The owner of the schema must execute the statements, after the first migration.
    ///
    /// ```
    /// use ratchet_pg::{DatabaseRole, PgOptions};
    ///
    /// # fn main() -> Result<(), ratchet_store::StoreError> {
    /// let options = PgOptions::new("postgres://owner@localhost/shop")?;
    /// let grants = options.grants(DatabaseRole::Read, "dashboard");
    /// assert!(grants.contains(&r#"GRANT USAGE ON SCHEMA "ratchet" TO "dashboard""#.to_owned()));
    /// # Ok(()) }
    /// ```
    pub fn grants(&self, role: DatabaseRole, user: &str) -> Vec<String> {
        role.grants(&self.schema, user)
    }

    /// Executes the statements of [`grants`](Self::grants) in one transaction. The user must exist.
    pub async fn grant(self, role: DatabaseRole, user: &str) -> Result<(), StoreError> {
        self.check()?;
        if user.is_empty() || user.len() > crate::sql::LONGEST_NAME {
            let problem = format!("`{user}` is not the name of a user of the database");
            return Err(StoreError::new(StoreErrorKind::Config, problem));
        }
        let grants = self.grants(role, user);
        let runtime = StoreRuntime::new(self.longest())?;
        runtime.run_to_its_end(apply(self, grants)).await
    }
}

async fn apply(options: PgOptions, grants: Vec<String>) -> Result<(), StoreError> {
    let connect = tls::resolve(options.connect).await;
    let mut db = PgConnection::connect_with(&connect).await.map_err(store_error)?;
    let mut tx = db.begin().await.map_err(store_error)?;
    for grant in grants {
        // Names are quoted, and nothing else comes from outside.
        sqlx::raw_sql(AssertSqlSafe(grant)).execute(&mut *tx).await.map_err(store_error)?;
    }
    tx.commit().await.map_err(store_error)?;
    db.close().await.map_err(store_error)
}
