//! Sequences: jobs that run in order. The table holds the last job of each.

use std::collections::BTreeMap;

use ratchet_store::model::{JobId, NewJob};
use ratchet_store::rules::graph::{held_up_by, sequence, turn_edge};
use ratchet_store::rules::insert::Plan;
use sqlx::Row as _;

use crate::insert::Key;
use crate::session::Session;
use crate::sql;
use crate::value::{bytes, job_id};

impl Session<'_> {
    /// Returns the stored job of its sequence that a new job must wait for, unless the plan of this batch decides it.
    pub(crate) async fn held_up_by(
        &mut self,
        job: &NewJob,
        plan: &Plan<Key>,
    ) -> Result<Option<JobId>, sqlx::Error> {
        let Some(key) = sequence(&job.spec) else { return Ok(None) };
        if plan.sequences.contains_key(key) {
            return Ok(None);
        }
        let last = sqlx::query(sql::graph::GET_LAST).bind(key);
        let Some(row) = last.fetch_optional(&mut *self.conn).await? else { return Ok(None) };
        let last = self.member(job_id(row.try_get(0)?)?).await?;
        Ok(last.and_then(|last| held_up_by(&job.spec, &last)))
    }

    /// Records that these jobs were added to their sequences.
    pub(crate) async fn extend_sequences(
        &mut self,
        jobs: &[&NewJob],
        sequences: &BTreeMap<String, JobId>,
    ) -> Result<(), sqlx::Error> {
        for edge in jobs.iter().filter_map(|job| turn_edge(job)) {
            self.save_edge(&edge).await?;
        }
        for (key, last) in sequences {
            sqlx::query(sql::graph::SAVE_LAST)
                .bind(key.as_str())
                .bind(bytes(last.uuid()))
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(())
    }
}
