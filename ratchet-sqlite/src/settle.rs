//! Settlements. All moves of a batch are written before its children, so that a key freed by one settlement is
//! available to the children of another. Plain successes are settled with one statement, all others one by one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Applied, AttemptOutcome, DroppedChild, Inserted, JobId, JobState, Member, NewJob, Notice,
    RunNotes, Settled, Settlement, Token, Verdict,
};
use ratchet_store::rules::graph::GraphEvent;
use sqlx::Row as _;

use crate::insert::is_plain;
use crate::row::Held;
use crate::session::Session;
use crate::sql;
use crate::value::{json, nanos, parse_borrowed, signed};

/// A current run: its index in the batch, its template, whether it has a business key, its slot, its queue, and for a
/// step whether it has edges, and its group.
type Current<'a> = (usize, i64, u8, Option<String>, Cow<'a, str>, Option<i64>, Cow<'a, str>);

impl Session<'_> {
    pub(crate) async fn settle(
        &mut self,
        settlements: &[Settlement],
    ) -> Result<Vec<Settled>, sqlx::Error> {
        let ids: HashSet<_> = settlements.iter().map(|settlement| settlement.token.job).collect();
        // Only the first settlement of a job can be current, so their order matters.
        let repeated = ids.len() < settlements.len();
        let plain: Vec<_> = settlements
            .iter()
            .filter(|settlement| !repeated && is_plain_success(settlement))
            .collect();
        let mut steps = HashMap::new();
        let succeeded = self.succeed(&plain, &mut steps).await?;
        let mut settled = Vec::with_capacity(settlements.len());
        let mut events = Vec::new();
        for (place, settlement) in settlements.iter().enumerate() {
            let job = settlement.token.job;
            settled.push(if succeeded.contains(&settlement.token) {
                self.record(&settlement.notices).await?;
                Settled::Applied(Applied::new(JobState::Succeeded, self.now, None))
            } else {
                self.settle_one(settlement, &mut steps).await?
            });
            crash_point(CrashPoint::SettleMember);
            if let Some(member) = steps.remove(&job) {
                let condition_results = settlement.condition_results.clone();
                events.push((place, GraphEvent::Ended { member, condition_results }));
            }
        }
        if let Some((first, _)) = events.first() {
            let first = *first;
            let effects =
                self.propagate(events.into_iter().map(|(_, event)| event).collect()).await?;
            if let Settled::Applied(applied) = &mut settled[first] {
                applied.effects = effects;
            }
        }
        self.count_samples(settlements, &mut settled).await?;
        self.wake_limited().await?;
        self.spawn(settlements, &mut settled).await?;
        self.spawn_graphs(settlements, &mut settled).await?;
        crash_point(CrashPoint::SettleSpawned);
        Ok(settled)
    }

    /// Settles successes that have only an output. Returns the tokens that were current.
    async fn succeed(
        &mut self,
        runs: &[&Settlement],
        steps: &mut HashMap<JobId, Member>,
    ) -> Result<HashSet<Token>, sqlx::Error> {
        if runs.is_empty() {
            return Ok(HashSet::new());
        }
        let (mut list, mut ids, mut leases) = (Vec::new(), Vec::new(), Vec::new());
        let mut outputs = Vec::new();
        for run in runs {
            ids.extend_from_slice(run.token.job.uuid().as_bytes());
            leases.extend_from_slice(run.token.lease.uuid().as_bytes());
            let output = match &run.verdict {
                Verdict::Succeed { output } => output.as_deref(),
                _ => None,
            };
            // SQLite counts from one.
            let start = output.map(|_| outputs.len() + 1);
            outputs.extend_from_slice(output.unwrap_or_default().as_bytes());
            let length = output.map(str::len);
            list.push((signed(run.token.version), nanos(run.duration), start, length));
        }
        // Fetching all rows ensures that both statements run.
        let rows = sqlx::query(sql::settle::SUCCEED_JOBS)
            .bind(json(&list)?)
            .bind(ids)
            .bind(leases)
            .bind(outputs)
            .bind(self.micros())
            .fetch_all(&mut *self.conn)
            .await?;
        crash_point(CrashPoint::SettleMoved);
        let current = rows.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)?;
        // Names in a damaged row may be invalid UTF-8. The rest of the batch is settled nevertheless.
        let current = String::from_utf8_lossy(current);
        let current: Vec<Current<'_>> = parse_borrowed(&current)?;
        let mut applied = HashSet::with_capacity(current.len());
        let (mut keyed, mut slots) = (Vec::new(), HashMap::<String, (i64, Cow<'_, str>)>::new());
        for (place, template, has_key, slot, queue, linked, group) in current {
            let Some(run) = runs.get(place) else { continue };
            applied.insert(run.token);
            if let Some(linked) = linked {
                let member = self.succeeded_member(run.token.job, linked == 1, &group).await?;
                steps.insert(run.token.job, member);
            }
            self.effects.count(template, JobState::Running, -1);
            self.effects.count(template, JobState::Succeeded, 1);
            self.effects.wakes.push(Wake::Finished(run.token.job));
            if has_key == 1 {
                keyed.extend_from_slice(run.token.job.uuid().as_bytes());
            }
            if let Some(slot) = slot {
                slots.entry(slot).or_insert((0, queue)).0 += 1;
            }
        }
        if !keyed.is_empty() {
            let list = json(&vec![0; keyed.len() / 16])?;
            let free = sqlx::query(sql::key::FREE_BUSINESS_KEYS).bind(list).bind(keyed);
            free.execute(&mut *self.conn).await?;
        }
        for (slot, (freed, queue)) in slots {
            self.bring_back_slot(&slot, freed).await?;
            self.effects.wake_queue(&queue);
        }
        crash_point(CrashPoint::SettleFreed);
        Ok(applied)
    }

    async fn settle_one(
        &mut self,
        settlement: &Settlement,
        steps: &mut HashMap<JobId, Member>,
    ) -> Result<Settled, sqlx::Error> {
        let token = settlement.token;
        let Some(mut row) = self.load(token.job).await? else {
            self.end_unreadable_run(token).await?;
            if !settlement.lingering {
                self.release_holds(token).await?;
            }
            return Ok(Settled::Stale { state: None });
        };
        if row.token() != Some(token) {
            if !settlement.lingering {
                self.release_holds(token).await?;
            }
            return Ok(Settled::Stale { state: Some(row.job.state) });
        }
        if let Some(mut line) = row.line(self.now, settlement.outcome) {
            line.duration = settlement.duration;
            (line.error, line.note) = settlement.verdict.cause();
            // A plain success is recorded by the job itself.
            let implied = matches!(settlement.verdict, Verdict::Succeed { .. })
                && settlement.outcome == AttemptOutcome::Success;
            if !implied {
                self.add_line(token.job, &line).await?;
                crash_point(CrashPoint::SettleHistory);
            }
        }
        self.keep(&mut row, &settlement.notes).await?;
        self.keep_items(&row.job, settlement).await?;
        let held = if settlement.lingering { Held::Lingering } else { Held::Freed };
        let now = self.now;
        self.end_run(&mut row, token, held, |job| {
            job.duration = Some(settlement.duration);
            job.settle(settlement.verdict.clone(), now);
        })
        .await?;
        crash_point(CrashPoint::SettleMoved);
        if row.job.state == JobState::Pending {
            crash_point(CrashPoint::SettleRetry);
        }
        self.record(&settlement.notices).await?;
        if !settlement.notices.is_empty() {
            crash_point(CrashPoint::SettleNotices);
        }
        if row.job.spec.step.is_some() && row.job.state.is_terminal() {
            steps.insert(token.job, row.job.member());
        }
        let due = Some(row.job.due).filter(|_| row.job.state == JobState::Pending);
        Ok(Settled::Applied(Applied::new(row.job.state, now, due)))
    }

    /// Inserts the children of the applied settlements.
    async fn spawn(
        &mut self,
        settlements: &[Settlement],
        settled: &mut [Settled],
    ) -> Result<(), sqlx::Error> {
        let families = || settlements.iter().map(|settlement| settlement.spawned.as_slice());
        if families().all(<[_]>::is_empty) {
            return Ok(());
        }
        let applied: Vec<_> =
            settled.iter().map(|settled| matches!(settled, Settled::Applied(_))).collect();
        let born = || families().zip(&applied).filter(|(_, applied)| **applied);
        let all: Vec<_> = born().flat_map(|(children, _)| children).collect();
        let plain = !self.check_ids && all.iter().all(|child| is_plain(child));
        if plain {
            self.insert_rows(&all).await?;
        }
        for (settlement, settled) in settlements.iter().zip(settled) {
            let Settled::Applied(applied) = settled else { continue };
            for child in &settlement.spawned {
                if plain {
                    applied.spawned.push(child.id);
                } else {
                    self.spawn_one(settlement.token, child, applied).await?;
                }
            }
        }
        Ok(())
    }

    /// Inserts the graphs of the applied settlements, one by one. A refused graph is dropped as a whole, without
    /// affecting the rest.
    async fn spawn_graphs(
        &mut self,
        settlements: &[Settlement],
        settled: &mut [Settled],
    ) -> Result<(), sqlx::Error> {
        for (settlement, settled) in settlements.iter().zip(settled) {
            let Settled::Applied(applied) = settled else { continue };
            for graph in &settlement.graphs {
                let Some(dropped) = self.spawn_graph(graph, applied).await? else { continue };
                if let Some(mut row) = self.load(settlement.token.job).await? {
                    row.job.warnings.push(dropped.to_string());
                    self.save_notes(&row).await?;
                }
                applied.dropped_graphs.push(dropped);
            }
        }
        Ok(())
    }

    async fn spawn_one(
        &mut self,
        parent: Token,
        child: &NewJob,
        applied: &mut Applied,
    ) -> Result<(), sqlx::Error> {
        let check_ids = std::mem::replace(&mut self.check_ids, true);
        let inserted = self.insert(std::slice::from_ref(child)).await;
        self.check_ids = check_ids;
        match inserted?.as_deref() {
            Ok([Inserted::Created(id)]) => applied.spawned.push(*id),
            Ok(_) => {}
            Err(refused) => {
                let (id, name, why) = (child.id, child.spec.name.clone(), refused.to_string());
                if let Some(mut row) = self.load(parent.job).await? {
                    row.job.warnings.push(format!("child `{name}` ({id}) was dropped: {why}"));
                    self.save_notes(&row).await?;
                }
                applied.dropped.push(DroppedChild { id, name, why });
            }
        }
        Ok(())
    }

    pub(crate) async fn report(
        &mut self,
        notes: &[(Token, RunNotes)],
    ) -> Result<Vec<bool>, sqlx::Error> {
        let mut answers = Vec::with_capacity(notes.len());
        for (token, notes) in notes {
            let row = self.load(token.job).await?.filter(|row| row.token() == Some(*token));
            answers.push(row.is_some());
            if let Some(mut row) = row {
                self.keep(&mut row, notes).await?;
                self.save_notes(&row).await?;
            }
        }
        Ok(answers)
    }
}

fn is_plain_success(settlement: &Settlement) -> bool {
    matches!(settlement.verdict, Verdict::Succeed { .. })
        && settlement.outcome == AttemptOutcome::Success
        && settlement.notes.is_empty()
        && settlement.notices.iter().all(|notice| matches!(notice, Notice::Outcome(_)))
        && settlement.rejects.is_empty()
        && settlement.hand_offs.is_empty()
        && settlement.refused_hand_offs.is_empty()
        && !settlement.lingering
}
