//! The statements of a list of jobs. If jobs are compared with conditions, only the columns that decide most of them are
//! read at first: reading a whole job takes much longer.

use jiff::Timestamp;
use ratchet_store::model::Filter;
use ratchet_store::rules::search::Source;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _, SqlSafeStr as _, SqlStr};

use crate::read_jobs::JobQuery;
use crate::sql;
use crate::value::{bytes, json, time};

/// The columns that are compared. What follows is read only if a condition needs it.
const COMPARED: &str =
    "id, seq, state, queue, template, own, attempts, queued_at, due, finished_at, node";

/// A statement that lists the jobs of a source.
pub(crate) struct Statement {
    text: SqlStr,
    parameter: Parameter,
}

/// What the statement needs to find the jobs of its source.
enum Parameter {
    None,
    Number(i64),
    Bytes(Vec<u8>),
    Text(String),
}

impl Statement {
    /// Returns the statement of a source. With `compares`, it returns the columns that [`columns_can_match`] reads.
    pub(crate) fn of(
        source: &Source<'_>,
        filter: &Filter,
        compares: bool,
    ) -> Result<Self, sqlx::Error> {
        let (newest, oldest, parameter) = match source {
            Source::Group(group) => (
                sql::job::LIST_GROUP_JOBS,
                sql::job::LIST_GROUP_JOBS_OLDEST_FIRST,
                Parameter::Bytes(bytes(group.uuid())),
            ),
            Source::Expiring(instant) => (
                sql::job::LIST_EXPIRING,
                sql::job::LIST_EXPIRING_OLDEST_FIRST,
                Parameter::Number(instant.as_microsecond()),
            ),
            Source::BusinessKey(key) => (
                sql::archive::LIST_BY_KEY,
                sql::archive::LIST_BY_KEY_OLDEST_FIRST,
                Parameter::Text(json(key)?),
            ),
            Source::States(states) => (
                sql::job::LIST_JOBS_IN_STATES,
                sql::job::LIST_JOBS_IN_STATES_OLDEST_FIRST,
                Parameter::Number(states.iter().fold(0, |bits, state| bits | 1 << state.code())),
            ),
            _ => (sql::job::LIST_JOBS, sql::job::LIST_JOBS_OLDEST_FIRST, Parameter::None),
        };
        let text = if filter.oldest_first { oldest } else { newest };
        if !compares {
            let text = AssertSqlSafe(sql::whole_jobs(text)).into_sql_str();
            return Ok(Self { text, parameter });
        }
        let needed = [
            (!filter.arguments.is_empty(), "payload"),
            (filter.error_type.is_some() || filter.error_text.is_some(), "error"),
            (filter.fingerprint.is_some(), "envelope"),
        ];
        let needed = needed.into_iter().filter(|(needed, _)| *needed).map(|(_, column)| column);
        let columns = COMPARED.split(", ").chain(needed).map(|column| format!("job.{column}"));
        let columns = columns.collect::<Vec<_>>().join(", ");
        // The text is that of a file, and the names of columns.
        let text = AssertSqlSafe(text.replacen("job.*", &columns, 1)).into_sql_str();
        Ok(Self { text, parameter })
    }

    /// Returns the query of the next rows behind a cursor.
    pub(crate) fn query<'q>(&'q self, cursor: &'q [u8], limit: usize) -> JobQuery<'q> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = sqlx::query(self.text.clone()).bind(cursor).bind(limit);
        match &self.parameter {
            Parameter::None => query,
            Parameter::Number(number) => query.bind(*number),
            Parameter::Bytes(bytes) => query.bind(bytes.as_slice()),
            Parameter::Text(text) => query.bind(text.as_str()),
        }
    }
}

/// Returns `false` if the job cannot match. A column that cannot be read decides nothing, and neither does a text in
/// another spelling than the one that is looked for.
pub(crate) fn columns_can_match(row: &SqliteRow, filter: &Filter) -> bool {
    let number = |column: &str| row.try_get::<Option<i64>, _>(column).ok();
    let at = |column: &str| number(column).map(|at| at.and_then(|at| time(at).ok()));
    let is_within = |column: &str, after: Option<Timestamp>, before: Option<Timestamp>| {
        if after.is_none() && before.is_none() {
            return true;
        }
        at(column).is_none_or(|at| {
            at.is_some_and(|at| {
                after.is_none_or(|after| at >= after) && before.is_none_or(|before| at < before)
            })
        })
    };
    let attempts = || number("attempts").flatten().and_then(|number| u32::try_from(number).ok());
    texts_can_match(row, filter)
        && (filter.states.is_empty()
            || number("state").flatten().is_none_or(|state| {
                filter.states.iter().any(|wanted| i64::from(wanted.code()) == state)
            }))
        && filter.attempts_above.is_none_or(|least| attempts().is_none_or(|it| it > least))
        && filter.attempts_below.is_none_or(|most| attempts().is_none_or(|it| it < most))
        && is_within("queued_at", filter.queued_after, filter.queued_before)
        && is_within("due", filter.due_after, filter.due_before)
        && is_within("finished_at", filter.finished_after, filter.finished_before)
        && filter.node.is_none_or(|node| {
            let own = row.try_get::<Option<&[u8]>, _>("node");
            own.is_ok_and(|own| own == Some(bytes(node.uuid()).as_slice()))
        })
}

/// Returns `false` if a text that a condition looks for is not in the column that would have it.
fn texts_can_match(row: &SqliteRow, filter: &Filter) -> bool {
    let text = |column: &str| row.try_get::<Option<&str>, _>(column).ok();
    let contains = |column: &str, wanted: &str| {
        text(column).is_none_or(|text| text.is_some_and(|text| text.contains(wanted)))
    };
    // The store has written these fields as JSON, each text in the same way.
    let in_own = |wanted: Option<&String>| {
        wanted.is_none_or(|wanted| json(wanted).is_ok_and(|wanted| contains("own", &wanted)))
    };
    let has_argument = |wanted: &str| {
        // Programs that are not Rust can write a text in several ways, but only with a backslash.
        let payload = row.try_get::<&[u8], _>("payload").ok();
        payload
            .and_then(|payload| std::str::from_utf8(payload).ok())
            .is_none_or(|payload| payload.contains('\\') || payload.contains(wanted))
    };
    let has_message = |wanted: &str| {
        text("error").is_none_or(|error| {
            error.is_some_and(|error| {
                error.contains('\\') || error.to_lowercase().contains(&wanted.to_lowercase())
            })
        })
    };
    (filter.queues.is_empty()
        || text("queue").flatten().is_none_or(|own| filter.queues.iter().any(|it| it == own)))
        && in_own(filter.tenant.as_ref())
        && in_own(filter.business_key.as_ref())
        && in_own(filter.correlation_id.as_ref())
        && in_own(filter.tag.as_ref())
        && filter
            .fingerprint
            .as_deref()
            .is_none_or(|wanted| json(&wanted).is_ok_and(|wanted| contains("envelope", &wanted)))
        && filter.error_type.as_deref().is_none_or(has_message)
        && filter.error_text.as_deref().is_none_or(has_message)
        && filter.arguments.iter().all(|test| has_argument(&test.value))
}
