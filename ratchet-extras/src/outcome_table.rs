//! [`OutcomeTable`]: writes how jobs ended to a table of the application in PostgreSQL, for change capture.
//!
//! The sink is registered with the builder like one of the application. Jobs can be in any store. An outcome is written
//! after the commit that ended its job, and it is written again until the database has accepted it. A repeat changes
//! nothing, so each outcome has one row.
//!
//! ```no_run
//! use ratchet::{MemoryStore, Ratchet};
//! use ratchet_extras::outcome_table::OutcomeTable;
//! use sqlx::PgPool;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = PgPool::connect("postgres://localhost/shop").await?;
//! let table = OutcomeTable::create(pool, "shop.job_outcomes").await?;
//! let ratchet = Ratchet::builder(MemoryStore::new()).outcome_sink(table).build().await?;
//! # let _ = ratchet;
//! # Ok(())
//! # }
//! ```
//!
//! # Reading the table
//!
//! Rows become visible in the order of `position`. A reader keeps the last position that it has processed and misses
//! nothing:
//!
//! ```sql
//! SELECT * FROM shop.job_outcomes WHERE position > $1 ORDER BY position LIMIT 1000
//! ```
//!
//! The positions of one job are in the order of its commits. Positions can have gaps. The application deletes old rows.
//!
//! | column | content |
//! |---|---|
//! | `position` | the order of the rows |
//! | `transition_key` | identifies the run that ended the job; unique |
//! | `job`, `job_name`, `queue`, `tenant`, `correlation_id` | the job |
//! | `kind` | `success`, `domain_failure`, `failure`, `exception` or `invalid` |
//! | `output` | the return value, as JSON |
//! | `envelope` | of a job that failed: the terminal envelope, as JSON |
//! | `generation`, `run`, `node`, `duration_us` | the last run |
//! | `ended_at` | the time of the commit that ended the job |
//!
//! Outputs are written as plain text, also if the store encrypts them.

use std::fmt;

use async_trait::async_trait;
use ratchet_core::{OutcomeSink, SinkError};
use ratchet_store::model::JobOutcome;
use sqlx::{AssertSqlSafe, PgPool};

/// Writes outcomes to a table in PostgreSQL. See the [module](self).
pub struct OutcomeTable {
    pool: PgPool,
    table: String,
}

/// Why an [`OutcomeTable`] cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeTableError {
    /// The name is not one that needs no quotes.
    #[error(
        "the name of the table is `{0}`, but it must be `table` or `schema.table` with lower-case letters, digits and `_`, at most 63 of them each"
    )]
    Name(String),
    /// The database has not created the table.
    #[error("the table `{table}` cannot be created")]
    Create {
        /// The name of the table.
        table: String,
        /// The error of the database.
        #[source]
        error: sqlx::Error,
    },
}

impl OutcomeTable {
    /// Creates the table if it does not exist. Its schema must exist.
    pub async fn create(pool: PgPool, table: impl Into<String>) -> Result<Self, OutcomeTableError> {
        let table = Self::existing(pool, table)?;
        let created = sqlx::raw_sql(AssertSqlSafe(definition(&table.table))).execute(&table.pool);
        match created.await {
            Ok(_) => Ok(table),
            Err(error) => Err(OutcomeTableError::Create { table: table.table, error }),
        }
    }

    /// Uses a table that the application has created with [`Self::definition`], for example by its migrations.
    pub fn existing(pool: PgPool, table: impl Into<String>) -> Result<Self, OutcomeTableError> {
        Ok(Self { pool, table: checked(table.into())? })
    }

    /// Returns the SQL that creates the table.
    ///
    /// ```
    /// use ratchet_extras::outcome_table::OutcomeTable;
    ///
    /// let sql = OutcomeTable::definition("shop.job_outcomes")?;
    /// assert!(sql.starts_with("CREATE TABLE IF NOT EXISTS shop.job_outcomes ("));
    /// # Ok::<(), ratchet_extras::outcome_table::OutcomeTableError>(())
    /// ```
    pub fn definition(table: impl Into<String>) -> Result<String, OutcomeTableError> {
        checked(table.into()).map(|table| definition(&table))
    }
}

/// Returns the name if it needs no quotes in SQL.
fn checked(table: String) -> Result<String, OutcomeTableError> {
    const LONGEST: usize = 63;
    let is_plain = |part: &str| {
        let first = part.as_bytes().first().is_some_and(|first| !first.is_ascii_digit());
        let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        first && part.len() <= LONGEST && part.bytes().all(rest)
    };
    let parts: Vec<_> = table.split('.').collect();
    match parts.len() <= 2 && parts.into_iter().all(is_plain) {
        true => Ok(table),
        false => Err(OutcomeTableError::Name(table)),
    }
}

fn definition(table: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transition_key text NOT NULL UNIQUE,
    job uuid NOT NULL,
    job_name text NOT NULL,
    queue text NOT NULL,
    tenant text,
    correlation_id text,
    kind text NOT NULL,
    output json,
    envelope json,
    generation bigint NOT NULL,
    run bigint NOT NULL,
    node uuid NOT NULL,
    duration_us bigint NOT NULL,
    ended_at timestamptz NOT NULL
)"
    )
}

/// The statement that writes a row. The lock makes rows visible in the order of their positions: it is taken before the
/// position, and is released by the commit.
fn insert(table: &str) -> String {
    format!(
        "INSERT INTO {table} (transition_key, job, job_name, queue, tenant, correlation_id, kind, output, envelope,
    generation, run, node, duration_us, ended_at)
SELECT $1, $2::uuid, $3, $4, $5, $6, $7, $8::json, $9::json, $10, $11, $12::uuid, $13, $14::timestamptz
FROM (SELECT pg_advisory_xact_lock(hashtextextended($15, 0)) OFFSET 0) AS in_order
ON CONFLICT (transition_key) DO NOTHING"
    )
}

impl fmt::Debug for OutcomeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutcomeTable").field("table", &self.table).finish_non_exhaustive()
    }
}

#[async_trait]
impl OutcomeSink for OutcomeTable {
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
        let kind = serde_json::to_value(outcome.kind)?;
        let envelope = outcome.envelope.as_ref().map(serde_json::to_string).transpose()?;
        sqlx::query(AssertSqlSafe(insert(&self.table)))
            .bind(&outcome.transition_key)
            .bind(outcome.job_id.to_string())
            .bind(&outcome.job_name)
            .bind(&outcome.queue)
            .bind(&outcome.tenant)
            .bind(&outcome.correlation_id)
            .bind(kind.as_str().unwrap_or_default())
            .bind(&outcome.output)
            .bind(envelope)
            .bind(i64::from(outcome.generation))
            .bind(i64::try_from(outcome.run)?)
            .bind(outcome.node.to_string())
            .bind(i64::try_from(outcome.duration.as_micros())?)
            .bind(outcome.at.to_string())
            .bind(format!("ratchet:{}", self.table))
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
