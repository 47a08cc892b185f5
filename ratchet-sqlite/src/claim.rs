//! Claims: reads the line of each queue in order, and claims the chosen jobs with one statement.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ClaimReply, ClaimRequest, Claimed, ConcurrencyKey, Isolation, JobSpec, JobState, LeaseId,
    QueueDemand, Token,
};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::error::is_unreadable;
use crate::gates::{Gates, Pass, probe_name};
use crate::row::job_row;
use crate::session::Session;
use crate::value::{
    bytes, changed, counter, in_column, job_id, json, number, parse_borrowed, parse_optional, time,
    unhex,
};
use crate::{sql, template};

/// The most future jobs of a template that one claim promotes. The rest are promoted by the next claim, which is due at
/// once.
const PROMOTE_MOST: i64 = 5_000;

/// The most jobs that one claim examines per queue. Blocked jobs are set aside, so the next claim gets further.
const LOOK_MOST: usize = 20_000;

/// The kinds of rows that the survey returns.
const NODE: i64 = 0;
const KIND: i64 = 1;
const RULES: i64 = 2;
const BREAKER: i64 = 3;

/// A row of the line: numbers first, then text fields.
type InLine<'a> = (
    [Option<i64>; 12],
    &'a str,
    &'a str,
    Option<Cow<'a, str>>,
    Option<Cow<'a, str>>,
    Option<Cow<'a, str>>,
    Option<Cow<'a, str>>,
);

/// The position of a job in the line of its queue: sort key, due time, id.
type Place = (i64, i64, Vec<u8>);

/// A part of the line of a queue.
struct Line<'q> {
    queue: &'q str,
    /// Rows as JSON.
    text: String,
    /// The rows contained invalid UTF-8, which was replaced.
    damaged: bool,
}

/// A job in the line, with all data that its claimer needs.
#[derive(Debug)]
struct Candidate {
    seq: i64,
    template: i64,
    /// Its position in the line. Lower positions come first.
    place: Place,
    /// The job as it is returned if it is chosen.
    claimed: Claimed,
}

/// The jobs that a claim has examined so far.
#[derive(Debug, Default)]
struct Selection {
    chosen: Vec<Candidate>,
    /// The number of runs per concurrency key, including the chosen jobs.
    slots: HashMap<String, u64>,
    /// Jobs that cannot run now, and whether the claimer knows their name.
    passed: Vec<(Candidate, bool)>,
    isolated_waiting: bool,
    /// A job that must run in isolation was found.
    isolated_seen: bool,
    /// A queue was not examined to its end.
    more: bool,
    /// Jobs that cannot be read, by their row id.
    unreadable: Vec<(i64, sqlx::Error)>,
}

impl Session<'_> {
    pub(crate) async fn claim(
        &mut self,
        request: &ClaimRequest,
    ) -> Result<ClaimReply, sqlx::Error> {
        if self.effects.has_new_work() {
            self.write_counts().await?;
        }
        let queues: Vec<_> = request.queues.iter().map(|demand| demand.queue.as_str()).collect();
        let survey =
            sqlx::query(sql::claim::SURVEY).bind(json(&queues)?).bind(bytes(request.node.uuid()));
        let survey = survey.fetch_all(&mut *self.conn).await?;
        let Some((node, rest)) = survey.split_first() else { return Ok(ClaimReply::default()) };
        if node.try_get::<i64, _>(0)? != NODE || node.try_get::<i64, _>(1)? <= self.micros() {
            return Ok(ClaimReply::default());
        }
        let mut next_due = None;
        let mut gates = Gates::default();
        for row in rest {
            match row.try_get(0)? {
                KIND => {
                    let due = self.promote(row, request).await?;
                    next_due = [next_due, due].into_iter().flatten().min();
                }
                RULES => self.read_rules(row, &mut gates).await?,
                BREAKER => self.read_breaker(row, &mut gates).await?,
                // The survey returns gates before lanes.
                _ => self.bring_back_runnable(row, request, &gates).await?,
            }
        }

        let lease = new_lease();
        let mut selection = Selection::default();
        for demand in &request.queues {
            self.choose(demand, request, lease, &mut selection, &mut gates).await?;
        }
        for (seq, error) in std::mem::take(&mut selection.unreadable) {
            self.set_unreadable(seq, &error).await?;
        }
        if selection.isolated_seen
            && matches!(request.isolation, Isolation::Allowed { .. })
            && let Some(mut first) = self.first_if_isolated(request, lease, &gates).await?
        {
            // Jobs that were skipped for slots of the chosen jobs are no longer blocked, so `passed` is discarded.
            if let Pass::Probe(opening) =
                gates.pass(first.claimed.spec.service.as_deref(), self.now)
            {
                first.claimed.probe = Some(opening);
            }
            selection = Selection { chosen: vec![first], ..Selection::default() };
        }
        if selection.passed.len() > self.max_skipped {
            let jobs =
                selection.passed.iter().filter(|(candidate, _)| candidate.claimed.crashes == 0);
            let jobs =
                jobs.map(|(candidate, known)| (candidate.seq, &*candidate.claimed.spec, *known));
            self.set_aside(jobs.collect()).await?;
        }
        self.start(&selection.chosen, lease, request).await?;
        let mut claimed = BTreeMap::<String, u32>::new();
        for candidate in &selection.chosen {
            *claimed.entry(candidate.claimed.spec.queue.clone()).or_default() += 1;
        }
        self.spend(&claimed, &mut gates).await?;
        next_due = [next_due, gates.opens_in(self.now)].into_iter().flatten().min();
        Ok(ClaimReply {
            jobs: selection.chosen.into_iter().map(|candidate| candidate.claimed).collect(),
            isolated_waiting: selection.isolated_waiting,
            next_due: if selection.more { Some(Duration::ZERO) } else { next_due },
        })
    }

    /// Promotes the due jobs of a template. Returns the time until its next future job, if the claimer knows its name.
    async fn promote(
        &mut self,
        kind: &SqliteRow,
        request: &ClaimRequest,
    ) -> Result<Option<Duration>, sqlx::Error> {
        let now = self.micros();
        let id: i64 = kind.try_get(1)?;
        let mut first: Option<i64> = kind.try_get(4)?;
        if first.is_some_and(|due| due <= now) {
            sqlx::query(sql::claim::PROMOTE_JOBS)
                .bind(id)
                .bind(now)
                .bind(PROMOTE_MOST)
                .execute(&mut *self.conn)
                .await?;
            let rest = sqlx::query(sql::claim::FIRST_FUTURE).bind(id);
            first = rest.fetch_one(&mut *self.conn).await?.try_get(0)?;
        }
        let known = kind
            .try_get(2)
            .and_then(|name| Ok(request.known.knows(name, number(kind.try_get(3)?)?)))
            .unwrap_or(false);
        let wait = |due: i64| Duration::from_micros(due.saturating_sub(now).max(0).unsigned_abs());
        Ok(first.filter(|_| known).map(wait))
    }

    /// Chooses jobs of one queue in order, up to its limit.
    async fn choose(
        &mut self,
        demand: &QueueDemand,
        request: &ClaimRequest,
        lease: LeaseId,
        selection: &mut Selection,
        gates: &mut Gates,
    ) -> Result<(), sqlx::Error> {
        let most = demand.limit.min(gates.most(&demand.queue, self.now));
        let mut left = usize::try_from(most).unwrap_or(usize::MAX);
        let mut looked = 0;
        let mut after = None;
        while left > 0 {
            // After a page that did not suffice, read larger pages.
            let limit = if after.is_none() { left } else { left.max(256) }.min(LOOK_MOST);
            let line = self.line(&demand.queue, limit, after.as_ref()).await?;
            let rows: Vec<InLine<'_>> = parse_borrowed(&line.text)?;
            let (count, end) = (rows.len(), rows.len() < limit);
            looked += count;
            for row in rows {
                let place = place(&row)?;
                after = Some(place.clone());
                if left == 0 {
                    break;
                }
                let seq = row.0[0].unwrap_or_default();
                let mut candidate = match self.candidate(row, place, &line, request, lease).await {
                    Ok(candidate) => candidate,
                    Err(error) if is_unreadable(&error) => {
                        selection.unreadable.push((seq, error));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let isolated = is_isolated(&candidate, request.isolation);
                selection.isolated_seen |= isolated;
                let known = knows(&candidate, request);
                let service = candidate.claimed.spec.service.as_deref();
                let pass = gates.pass(service, self.now);
                if !known || pass == Pass::No || !self.has_slot(&candidate, selection).await? {
                    selection.passed.push((candidate, known));
                } else if isolated {
                    selection.isolated_waiting = true;
                } else {
                    if let Pass::Probe(opening) = pass {
                        gates.probe(service);
                        candidate.claimed.probe = Some(opening);
                    }
                    take_slot(&candidate, selection);
                    selection.chosen.push(candidate);
                    left -= 1;
                }
            }
            if end {
                break;
            }
            if looked >= LOOK_MOST {
                selection.more |= left > 0;
                break;
            }
        }
        Ok(())
    }

    /// Returns the first of all claimable jobs, if it must run in isolation.
    async fn first_if_isolated(
        &mut self,
        request: &ClaimRequest,
        lease: LeaseId,
        gates: &Gates,
    ) -> Result<Option<Candidate>, sqlx::Error> {
        let mut first: Option<Candidate> = None;
        // Slots are counted again, without the chosen jobs.
        let mut selection = Selection::default();
        let now = self.now;
        let open = |demand: &&QueueDemand| demand.limit > 0 && gates.most(&demand.queue, now) > 0;
        for demand in request.queues.iter().filter(open) {
            let mut after = None;
            'line: loop {
                let line = self.line(&demand.queue, 64, after.as_ref()).await?;
                let rows: Vec<InLine<'_>> = parse_borrowed(&line.text)?;
                let end = rows.len() < 64;
                for row in rows {
                    let place = place(&row)?;
                    after = Some(place.clone());
                    let candidate = match self.candidate(row, place, &line, request, lease).await {
                        Ok(candidate) => candidate,
                        Err(error) if is_unreadable(&error) => continue,
                        Err(error) => return Err(error),
                    };
                    let service = candidate.claimed.spec.service.as_deref();
                    if knows(&candidate, request)
                        && gates.pass(service, now) != Pass::No
                        && self.has_slot(&candidate, &mut selection).await?
                    {
                        let sooner =
                            first.as_ref().is_none_or(|first| candidate.place < first.place);
                        first = if sooner { Some(candidate) } else { first };
                        break 'line;
                    }
                }
                if end {
                    break;
                }
            }
        }
        Ok(first.filter(|first| is_isolated(first, request.isolation)))
    }

    async fn line<'q>(
        &mut self,
        queue: &'q str,
        limit: usize,
        after: Option<&Place>,
    ) -> Result<Line<'q>, sqlx::Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let query = match after {
            None => sqlx::query(sql::claim::LIST_LINE).bind(queue).bind(limit),
            Some((sort_key, due, id)) => sqlx::query(sql::claim::LIST_LINE_AFTER)
                .bind(queue)
                .bind(limit)
                .bind(*sort_key)
                .bind(*due)
                .bind(id.as_slice()),
        };
        let row = query.fetch_one(&mut *self.conn).await?;
        Ok(match row.try_get(0) {
            Ok(text) => Line { queue, text, damaged: false },
            // One of the rows contains invalid UTF-8.
            Err(_) => {
                let text = String::from_utf8_lossy(row.try_get(0)?).into_owned();
                Line { queue, text, damaged: true }
            }
        })
    }

    /// Returns an error if a row contains replaced text and cannot be read completely.
    async fn check(&mut self, row: &InLine<'_>) -> Result<(), sqlx::Error> {
        let (numbers, _, _, own, slot_key, progress, checkpoint) = row;
        let odd = |text: &Option<Cow<'_, str>>| {
            text.as_ref().is_some_and(|text| text.contains(char::REPLACEMENT_CHARACTER))
        };
        if [own, slot_key, progress, checkpoint].into_iter().any(odd) {
            let row = sqlx::query(sql::unreadable::GET_JOB).bind(numbers[0]);
            let row = row.fetch_one(&mut *self.conn).await?;
            let template = self.template(row.try_get("template")?).await?;
            job_row(&row, &template)?;
        }
        Ok(())
    }

    async fn candidate(
        &mut self,
        row: InLine<'_>,
        place: Place,
        line: &Line<'_>,
        request: &ClaimRequest,
        lease: LeaseId,
    ) -> Result<Candidate, sqlx::Error> {
        if line.damaged {
            self.check(&row).await?;
        }
        let (numbers, _, payload, own, slot_key, progress, checkpoint) = row;
        let limit = numbers[11];
        // Only the limit may be NULL.
        let [
            seq,
            template,
            _,
            due,
            queued_at,
            fence,
            run,
            generation,
            attempts,
            crashes,
            deferrals,
            _,
        ] = numbers.map(Option::unwrap_or_default);
        let concurrency = match (slot_key, limit) {
            (Some(key), Some(limit)) => {
                let limit = in_column("slot_limit", number(limit))?;
                Some(ConcurrencyKey { key: key.into_owned(), limit })
            }
            _ => None,
        };
        let common = self.template(template).await?;
        if common.queue != line.queue {
            let why = "it is not the queue that the job was submitted to";
            return in_column("queue", Err(sqlx::Error::Decode(why.into())));
        }
        let spec = template::spec(&common, unhex(payload)?, own.as_deref(), concurrency)?;
        let job = in_column("id", job_id(&place.2))?;
        let version = in_column("fence", counter(fence))? + 1;
        Ok(Candidate {
            seq,
            template,
            claimed: Claimed {
                token: Token { job, lease, version },
                spec: Arc::new(spec),
                run: in_column("run", counter(run))? + 1,
                generation: in_column("generation", number(generation))?,
                attempts: in_column("attempts", number(attempts))?,
                crashes: in_column("crashes", number(crashes))?,
                deferrals: in_column("deferrals", number(deferrals))?,
                queued_at: in_column("queued_at", time(queued_at))?,
                due: in_column("due", time(due))?,
                claimed_at: self.now,
                node: request.node,
                progress: in_column("progress", parse_optional(progress.as_deref()))?,
                checkpoint: in_column("checkpoint", parse_optional(checkpoint.as_deref()))?,
                probe: None,
            },
            place,
        })
    }

    async fn has_slot(
        &mut self,
        candidate: &Candidate,
        selection: &mut Selection,
    ) -> Result<bool, sqlx::Error> {
        let Some(slot) = &candidate.claimed.spec.concurrency else { return Ok(true) };
        let taken = match selection.slots.get(&slot.key) {
            Some(taken) => *taken,
            None => self.slots_taken(&slot.key).await?,
        };
        selection.slots.insert(slot.key.clone(), taken);
        Ok(slot.has_room(taken))
    }

    async fn start(
        &mut self,
        chosen: &[Candidate],
        lease: LeaseId,
        request: &ClaimRequest,
    ) -> Result<(), sqlx::Error> {
        if chosen.is_empty() {
            return Ok(());
        }
        let jobs: Vec<_> = chosen.iter().map(|candidate| candidate.seq).collect();
        let started = sqlx::query(sql::claim::START_JOBS)
            .bind(json(&jobs)?)
            .bind(bytes(request.node.uuid()))
            .bind(bytes(lease.uuid()))
            .bind(request.starting)
            .bind(self.micros())
            .execute(&mut *self.conn)
            .await?;
        changed(&started, jobs.len())?;
        crash_point(CrashPoint::ClaimTaken);
        self.mark_probes(chosen).await?;
        for candidate in chosen {
            self.effects.count(candidate.template, JobState::Pending, -1);
            self.effects.count(candidate.template, JobState::Running, 1);
        }
        Ok(())
    }

    async fn mark_probes(&mut self, chosen: &[Candidate]) -> Result<(), sqlx::Error> {
        let mut probes: HashMap<String, Vec<i64>> = HashMap::new();
        for candidate in chosen {
            if let (Some(service), Some(opening)) =
                (&candidate.claimed.spec.service, candidate.claimed.probe)
            {
                probes.entry(probe_name(service, opening)).or_default().push(candidate.seq);
            }
        }
        for (probe, jobs) in probes {
            let query = sqlx::query(sql::gate::MARK_PROBES).bind(json(&jobs)?).bind(probe);
            query.execute(&mut *self.conn).await?;
        }
        Ok(())
    }
}

fn place((numbers, id, ..): &InLine<'_>) -> Result<Place, sqlx::Error> {
    Ok((numbers[2].unwrap_or_default(), numbers[3].unwrap_or_default(), unhex(id)?))
}

fn knows(candidate: &Candidate, request: &ClaimRequest) -> bool {
    let spec: &JobSpec = &candidate.claimed.spec;
    request.known.can_run(spec)
}

fn is_isolated(candidate: &Candidate, isolation: Isolation) -> bool {
    candidate.claimed.crashes >= isolation.after_crashes()
}

fn take_slot(candidate: &Candidate, selection: &mut Selection) {
    if let Some(slot) = &candidate.claimed.spec.concurrency {
        *selection.slots.entry(slot.key.clone()).or_default() += 1;
    }
}

/// Creates a random lease id, so that two processes never claim under the same lease.
fn new_lease() -> LeaseId {
    LeaseId::from_uuid(Uuid::from_u128(fastrand::u128(..)))
}
