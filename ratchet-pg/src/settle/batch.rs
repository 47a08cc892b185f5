//! Settles a batch of any settlements. All moves are written before the children, so that a key freed by one settlement
//! is available to the children of another.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Applied, DroppedChild, Inserted, JobId, NewJob, Settled, Settlement, Token, Verdict,
};
use ratchet_store::rules::graph::GraphEvent;
use uuid::Uuid;

use super::apart::needs_keys;
use super::moves::Member;
use super::notes::Notes;
use super::{Ends, Left, Lines, PostCommit, RunEnd, Tokens};
use crate::db;
use crate::fault::{Fault, exactly};
use crate::items::Items;
use crate::job_row::{WaitingRow, bind_all};
use crate::record::text;
use crate::spec::{clean, clean_option, instant, micros};
use crate::store::Inner;
use crate::wake::Hint;
use sqlx::PgConnection;

/// The changes of a batch, collected before they are written.
#[derive(Default)]
struct Gathered {
    ends: Ends,
    lines: Lines,
    notes: Notes,
    back: Vec<WaitingRow>,
    left: Vec<(Uuid, Uuid)>,
    lingering: Vec<(Token, Uuid)>,
    /// Runs that have ended and release their slot.
    freed: Vec<Token>,
    /// Stale runs that report for the last time.
    stale: Vec<Token>,
    ended: Vec<Uuid>,
    /// Ends of steps, with the index of their settlement.
    events: Vec<(usize, GraphEvent)>,
    items: Items,
    hints: Vec<Hint>,
}

impl Inner {
    pub(super) async fn settle_batch(
        &self,
        db: &mut PgConnection,
        settlements: &[&Settlement],
    ) -> Result<(Vec<Settled>, PostCommit), Fault> {
        let tokens: Vec<_> = settlements.iter().map(|settlement| settlement.token).collect();
        let (now, mut members) = self.members(db, &tokens).await?;
        let others = tokens.iter().map(|token| token.job).filter(|job| !members.contains_key(job));
        let foreign = tokens.iter().filter(|token| !is_current(token, &members));
        let asked: Vec<_> = others.chain(foreign.map(|token| token.job)).collect();
        let mut states = self.states(db, asked.into_iter()).await?;
        let mut batch = Gathered::default();
        let mut answers = Vec::new();
        for (place, settlement) in settlements.iter().enumerate() {
            let token = settlement.token;
            let member = is_current(&token, &members).then(|| members.remove(&token.job)).flatten();
            let Some(member) = member else {
                let state = states.get(&token.job).copied();
                if state.is_some() && !settlement.lingering {
                    batch.stale.push(token);
                }
                answers.push(Settled::Stale { state });
                continue;
            };
            let applied = batch.add(settlement, &member, now);
            if let Some(event) = ended(&member, &applied, settlement) {
                batch.events.push((place, event));
            }
            states.insert(token.job, applied.state);
            answers.push(Settled::Applied(applied));
        }
        let (places, events): (Vec<_>, Vec<_>) =
            std::mem::take(&mut batch.events).into_iter().unzip();
        let mut post_commit = self.write_batch(db, batch, now).await?;
        if let Some(first) = places.first()
            && let Settled::Applied(applied) = &mut answers[*first]
        {
            applied.effects = self.propagate(db, events, now, &mut post_commit).await?;
        }
        let waits = settlements.iter().any(|settlement| needs_keys(settlement));
        if waits {
            self.limit_key_waits(db).await?;
        }
        self.spawn(db, settlements, &mut answers, &mut post_commit, now).await?;
        self.spawn_graphs(db, settlements, &mut answers, &mut post_commit, now).await?;
        if waits {
            self.unlimit_key_waits(db).await?;
        }
        crash_point(CrashPoint::SettleSpawned);
        Ok((answers, post_commit))
    }

    /// Locks the leases of the tokens and reads their members.
    pub(crate) async fn members(
        &self,
        db: &mut PgConnection,
        tokens: &[Token],
    ) -> Result<(i64, HashMap<JobId, Member>), Fault> {
        let columns = Tokens::of(tokens);
        self.lock_leases(db, tokens).await?;
        let now = self.now(&mut *db).await?;
        let rows = db::query(self.sql.select_members())
            .bind(columns.distinct_leases())
            .bind(columns.job)
            .fetch_all(db)
            .await?;
        let mut members = HashMap::new();
        for row in &rows {
            let member = Member::read(row)?;
            members.insert(JobId::from_uuid(member.row.job), member);
        }
        Ok((now, members))
    }

    /// Locks the leases of the tokens, always in the same order.
    pub(super) async fn lock_leases(
        &self,
        db: &mut PgConnection,
        tokens: &[Token],
    ) -> Result<(), Fault> {
        let leases = Tokens::of(tokens).lease;
        db::query(self.sql.lock_leases()).bind(leases).fetch_all(db).await?;
        Ok(())
    }

    async fn write_batch(
        &self,
        db: &mut PgConnection,
        batch: Gathered,
        now: i64,
    ) -> Result<PostCommit, Fault> {
        let mut post_commit = PostCommit { hints: batch.hints, ..PostCommit::default() };
        batch.lines.write(self, db).await?;
        crash_point(CrashPoint::SettleHistory);
        batch.ends.write(self, db, now).await?;
        self.leave_leases(db, batch.left).await?;
        crash_point(CrashPoint::SettleMoved);
        if !batch.back.is_empty() {
            post_commit.unsettled = true;
            self.put_back(db, &batch.back, now, &mut post_commit.hints).await?;
            crash_point(CrashPoint::SettleRetry);
        }
        batch.notes.write(self, db).await?;
        batch.items.write(self, db, now).await?;
        let (runs, nodes): (Vec<_>, Vec<_>) = batch.lingering.into_iter().unzip();
        self.linger(db, &runs, nodes, false).await?;
        let mut freed = self.free(db, &batch.freed, batch.ended).await?;
        freed.extend(self.let_go_within(db, &batch.stale).await?);
        post_commit.unsettled |= !freed.is_empty();
        post_commit.hints.extend(freed);
        crash_point(CrashPoint::SettleFreed);
        Ok(post_commit)
    }

    /// Removes members from their leases, and deletes leases without members.
    pub(crate) async fn leave_leases(
        &self,
        db: &mut PgConnection,
        left: Vec<(Uuid, Uuid)>,
    ) -> Result<(), Fault> {
        if left.is_empty() {
            return Ok(());
        }
        let (leases, jobs): (Vec<_>, Vec<_>) = left.into_iter().unzip();
        let distinct = leases.iter().collect::<BTreeSet<_>>().len();
        let left = db::query(self.sql.leave_leases()).bind(&leases).bind(jobs);
        exactly(distinct, &left.execute(&mut *db).await?)?;
        db::query(self.sql.delete_leases()).bind(leases).execute(db).await?;
        Ok(())
    }

    /// Returns jobs to the queue.
    pub(crate) async fn put_back(
        &self,
        db: &mut PgConnection,
        rows: &[WaitingRow],
        now: i64,
        hints: &mut Vec<Hint>,
    ) -> Result<(), Fault> {
        bind_all(db::query(self.sql.insert_moving()).bind(now), rows).execute(db).await?;
        let mut first = BTreeMap::new();
        for row in rows.iter().filter(|row| row.due <= now) {
            let first = first.entry(&row.queue).or_insert(row.sort_key);
            *first = row.sort_key.min(*first);
        }
        hints.extend(first.into_iter().map(|(queue, first)| Hint::put(queue.clone(), first)));
        Ok(())
    }

    /// Records runs that have ended while their handlers may still be running.
    pub(crate) async fn linger(
        &self,
        db: &mut PgConnection,
        runs: &[Token],
        nodes: Vec<Uuid>,
        canceled: bool,
    ) -> Result<(), Fault> {
        if runs.is_empty() {
            return Ok(());
        }
        let columns = Tokens::of(runs);
        let kept = db::query(self.sql.insert_lingering())
            .bind(columns.job)
            .bind(columns.lease)
            .bind(columns.version)
            .bind(nodes)
            .bind(canceled)
            .execute(db)
            .await?;
        exactly(runs.len(), &kept)
    }

    /// Inserts the children of the applied settlements.
    async fn spawn(
        &self,
        db: &mut PgConnection,
        settlements: &[&Settlement],
        answers: &mut [Settled],
        post_commit: &mut PostCommit,
        now: i64,
    ) -> Result<(), Fault> {
        let (mut parents, mut children) = (Vec::new(), Vec::<NewJob>::new());
        for (parent, (settlement, answer)) in settlements.iter().zip(answers.iter()).enumerate() {
            if let Settled::Applied(_) = answer {
                parents.extend(settlement.spawned.iter().map(|_| parent));
                children.extend(settlement.spawned.iter().cloned());
            }
        }
        if children.is_empty() {
            return Ok(());
        }
        let (inserted, fresh) = self.insert_children(db, &children, now).await?;
        let mut notes = Notes::default();
        for ((parent, child), inserted) in parents.into_iter().zip(&children).zip(inserted) {
            let Settled::Applied(applied) = &mut answers[parent] else { continue };
            match inserted {
                Ok(Inserted::Created(id)) => applied.spawned.push(id),
                Ok(_) => {}
                Err(refused) => {
                    let (id, name, why) = (child.id, child.spec.name.clone(), refused.to_string());
                    let warning = format!("child `{name}` ({id}) was dropped: {why}");
                    notes.warn(settlements[parent].token.job.uuid(), &warning);
                    applied.dropped.push(DroppedChild { id, name, why });
                }
            }
        }
        notes.write(self, db).await?;
        post_commit.unsettled = true;
        post_commit.hints.extend(fresh.hints());
        Ok(())
    }
}

fn is_current(token: &Token, members: &HashMap<JobId, Member>) -> bool {
    members.get(&token.job).is_some_and(|member| {
        member.lease == token.lease.uuid()
            && crate::spec::to_u64(member.row.version) == token.version
    })
}

/// Returns the event to propagate through the graph if a step has ended.
fn ended(member: &Member, applied: &Applied, settlement: &Settlement) -> Option<GraphEvent> {
    let place = member.step.as_ref().filter(|_| applied.state.is_terminal())?;
    let id = settlement.token.job;
    let member = place.member(id, &member.row.name, applied.state);
    Some(GraphEvent::Ended { member, condition_results: settlement.condition_results.clone() })
}

impl Gathered {
    /// Adds a settlement whose token is current.
    fn add(&mut self, settlement: &Settlement, member: &Member, now: i64) -> Applied {
        let token = settlement.token;
        let end = RunEnd { outcome: settlement.outcome, duration: micros(settlement.duration) };
        self.notes.push(token.job.uuid(), &settlement.notes);
        self.items.push(settlement, &member.row);
        self.left.push((member.lease, member.row.job));
        if settlement.lingering {
            self.lingering.push((token, member.node));
        } else if member.held {
            self.freed.push(token);
        }
        let mut row = member.row.clone();
        let state = row.settle(&settlement.verdict, now);
        let left = match &settlement.verdict {
            Verdict::Succeed { output } => {
                Left { output: clean_option(output.as_ref()), ..Left::default() }
            }
            Verdict::Fail { envelope, .. } => {
                let mut envelope = envelope.clone();
                envelope.at = instant(now);
                Left {
                    reason: Some(envelope.reason.name().to_owned()),
                    fingerprint: Some(clean(&envelope.failure.fingerprint)),
                    envelope: text(&envelope),
                    ..Left::default()
                }
            }
            Verdict::Retry { .. }
            | Verdict::Defer { .. }
            | Verdict::Release
            | Verdict::Rescue { .. } => {
                let (error, note) = settlement.verdict.cause();
                let error = error.as_ref().and_then(text);
                self.lines.push(member, &end, now, error, note.as_deref().map(clean));
                row.version += 1;
                let due = instant(row.due);
                self.back.push(row);
                return Applied::new(state, instant(now), Some(due));
            }
        };
        self.ends.push(&row, Some((member, end)), state, left);
        if row.keyed {
            self.ended.push(row.job);
        }
        self.hints.push(Wake::Finished(token.job).into());
        Applied::new(state, instant(now), None)
    }
}
