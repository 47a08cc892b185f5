//! Schedules that belong to their declaration: several versions of a program over one store.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{CronDef, Filter, Job, PageRequest, Ratchet, Registration, Worker};
use ratchet_store::model::{Declared, ScheduleRecord, WriteSchedule};

use super::jobs::{Mark, Tick};
use crate::engine::fixture::{EngineFixture, eventually, start};

const BILL: &str = "shop.bill";
const CHARGE: &str = "shop.charge";

/// A job that runs every hour.
fn hourly(name: &'static str, aliases: &'static [&'static str]) -> Registration {
    let mut job = once(name, aliases);
    job.def.cron = Some(CronDef::new("0 * * * *"));
    job
}

/// The same job without a schedule.
fn once(name: &'static str, aliases: &'static [&'static str]) -> Registration {
    let mut job = Tick::JOB;
    (job.def.name, job.def.aliases) = (name, aliases);
    job
}

/// Starts a node of the program `shop` with these jobs.
async fn shop(fixture: &EngineFixture, jobs: &[Registration]) -> (Ratchet, Worker) {
    start(fixture.builder().jobs(jobs.iter().copied()).program("shop")).await
}

async fn schedules(ratchet: &Ratchet) -> Vec<ScheduleRecord> {
    let schedules = ratchet.schedules().list().await.expect("reads");
    schedules.into_iter().map(|view| view.schedule).collect()
}

async fn names(ratchet: &Ratchet) -> Vec<String> {
    schedules(ratchet).await.into_iter().map(|schedule| schedule.name).collect()
}

/// Returns the number of jobs that schedules have created. Panics if two were created for one occurrence.
async fn occurrences(ratchet: &Ratchet) -> usize {
    let page = PageRequest { limit: 1000, ..PageRequest::default() };
    let jobs = ratchet.jobs().list(&Filter::any(), page).await.expect("reads").jobs;
    let due: BTreeSet<_> = jobs.iter().map(|job| job.due).collect();
    assert_eq!(due.len(), jobs.len(), "an occurrence was fired twice: {jobs:#?}");
    jobs.len()
}

/// Advances the store's clock until there have been `count` occurrences.
async fn until(fixture: &EngineFixture, ratchet: &Ratchet, count: usize) {
    eventually("the occurrence is fired", async || {
        let fired = occurrences(ratchet).await;
        if fired < count {
            fixture.advance(Duration::from_mins(10)).await;
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
        fired >= count
    })
    .await;
}

/// Advances the store's clock by hours and lets the workers sweep.
async fn pass(fixture: &EngineFixture, hours: usize) {
    for _ in 0..hours * 2 {
        fixture.advance(Duration::from_mins(30)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

pub async fn t_06_a_renamed_job_keeps_its_schedule(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[])]).await;
    until(&fixture, &ratchet, 2).await;
    ratchet.schedules().pause(BILL).await.expect("pauses");
    let before = schedules(&ratchet).await.remove(0);
    let (_, new) = shop(&fixture, &[hourly(CHARGE, &[BILL])]).await;
    let after = schedules(&ratchet).await;
    assert_eq!(after.len(), 1);
    assert_eq!((after[0].name.as_str(), after[0].spec.name.as_str()), (CHARGE, CHARGE));
    assert_eq!(
        (after[0].next, after[0].last, after[0].paused),
        (before.next, before.last, true),
        "what was fired and what an operator set stays"
    );
    ratchet.schedules().resume(CHARGE).await.expect("resumes");
    // A node of the old version restarts during the deployment.
    let (_, restarted) = shop(&fixture, &[hourly(BILL, &[])]).await;
    assert_eq!(names(&ratchet).await, [CHARGE]);
    until(&fixture, &ratchet, 5).await;
    for worker in [old, new, restarted] {
        worker.stop().await;
    }
}

pub async fn t_06_a_removed_cron_removes_the_schedule(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[]), hourly(CHARGE, &[])]).await;
    assert_eq!(names(&ratchet).await, [BILL, CHARGE]);
    let (_, new) = shop(&fixture, &[once(BILL, &[]), hourly(CHARGE, &[])]).await;
    assert_eq!(names(&ratchet).await, [CHARGE]);
    let (_, restarted) = shop(&fixture, &[hourly(BILL, &[]), hourly(CHARGE, &[])]).await;
    assert_eq!(names(&ratchet).await, [CHARGE], "an older version restarted");
    for worker in [old, new, restarted] {
        worker.stop().await;
    }
    let (_, back) = shop(&fixture, &[hourly(BILL, &[]), hourly(CHARGE, &[])]).await;
    assert_eq!(names(&ratchet).await, [BILL, CHARGE], "the program was rolled back");
    back.stop().await;
}

pub async fn t_06_a_job_renamed_without_cron_has_no_schedule(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[])]).await;
    let (_, new) = shop(&fixture, &[once(CHARGE, &[BILL])]).await;
    assert_eq!(names(&ratchet).await, [""; 0]);
    old.stop().await;
    new.stop().await;
}

pub async fn t_06_a_deleted_job_stops_its_schedule(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[]), once(CHARGE, &[])]).await;
    let (_, new) = shop(&fixture, &[once(CHARGE, &[])]).await;
    let withdrawn = schedules(&ratchet).await.remove(0);
    let declared = Declared { program: "shop".to_owned(), withdrawn: true };
    assert_eq!(withdrawn.declared, Some(declared));
    assert!(withdrawn.is_stopped());
    // The old version still knows the job.
    pass(&fixture, 3).await;
    assert_eq!(occurrences(&ratchet).await, 0);
    assert_eq!(schedules(&ratchet).await, [withdrawn], "it is withdrawn once");
    old.stop().await;
    new.stop().await;
    let (_, back) = shop(&fixture, &[hourly(BILL, &[]), once(CHARGE, &[])]).await;
    until(&fixture, &ratchet, 1).await;
    back.stop().await;
}

pub async fn t_06_schedules_of_others_are_left_alone(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[]), Mark::JOB]).await;
    ratchet.schedules().declare("mine", "0 0 1 1 *", Mark::ok("x")).await.expect("declares");
    let other = fixture.builder().jobs([hourly(CHARGE, &[])]).program("warehouse");
    let (_, other) = start(other).await;
    let (_, new) = shop(&fixture, &[Mark::JOB, once(BILL, &[])]).await;
    assert_eq!(names(&ratchet).await, ["mine", CHARGE]);
    for worker in [old, other, new] {
        worker.stop().await;
    }
}

pub async fn t_06_a_schedule_without_a_recorded_declaration_is_renamed(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[])]).await;
    old.stop().await;
    let mut record = schedules(&ratchet).await.remove(0);
    record.declared = None;
    let write = WriteSchedule {
        name: record.name.clone(),
        replaces: Some(record.version),
        record: Some(record),
        declarations: None,
        jobs: Vec::new(),
        notices: Vec::new(),
    };
    fixture.store().write_schedule(write).await.expect("writes");
    let (_, new) = shop(&fixture, &[hourly(CHARGE, &[BILL])]).await;
    assert_eq!(names(&ratchet).await, [CHARGE]);
    new.stop().await;
}

pub async fn t_06_a_schedule_that_changes_meanwhile_is_tried_again(fixture: EngineFixture) {
    let stale = |writes| {
        fixture.switches().stale_declarations.store(writes, Ordering::SeqCst);
    };
    let (ratchet, old) = shop(&fixture, &[hourly(BILL, &[])]).await;
    ratchet.schedules().pause(BILL).await.expect("pauses");
    stale(2);
    let (_, renamed) = shop(&fixture, &[hourly(CHARGE, &[BILL])]).await;
    let after = schedules(&ratchet).await;
    assert_eq!((after.len(), after[0].name.as_str(), after[0].paused), (1, CHARGE, true));
    stale(2);
    let (_, removed) = shop(&fixture, &[once(CHARGE, &[BILL])]).await;
    assert_eq!(names(&ratchet).await, [""; 0]);
    for worker in [old, renamed, removed] {
        worker.stop().await;
    }
}
