//! A recurring job: declared with `cron`, and fired once per occurrence in the whole cluster, even at clock changes.

use ratchet::prelude::*;
use ratchet::schedule::Cron;
use ratchet_examples::Scratch;

/// Runs at half past two, local time.
#[job(cron = "30 2 * * *", tz = "Europe/Berlin", single_instance)]
async fn tidy_up(#[job(default)] days: u32) {
    println!("tidy_up: older than {days} days");
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("nightly").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    // Starting a worker declares the schedule. Starting another one does not change it.
    let worker = ratchet.start().await?;
    let schedules = ratchet.schedules();
    for view in schedules.list().await? {
        let schedule = &view.schedule;
        println!("{}: `{}` in {}", schedule.name, schedule.expression, schedule.zone);
    }
    // An operator can run the job immediately.
    let job = schedules.run_now(TidyUp::DEF.name).await?;
    if let Some(job) = job {
        ratchet.handle::<TidyUp>(job).wait().await?;
    }
    // On 29 March 2026 there is no 02:30 in Berlin. The job fires once, at the next valid instant.
    let cron = Cron::new("30 2 * * *", "Europe/Berlin")?;
    let mut at = "2026-03-27T12:00:00Z".parse()?;
    for _ in 0..3 {
        let Some(next) = cron.after(at) else { break };
        println!("fires at {next}");
        at = next;
    }
    worker.stop().await;
    Ok(())
}
