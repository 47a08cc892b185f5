//! The test of versions: two executables declare recurring jobs and limits over one store. The second one has renamed a
//! job, has removed the schedule of another, and has deleted a third. Every occurrence must be one job, always. It has
//! also dropped the limits of one queue and changed those of another.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use ratchet::model::{Filter, PageRequest, QueueLimits, QueueRecord};
use ratchet::{Job as _, Ratchet};

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::chaos::signal;
use crate::jobs::Tick;
use crate::server::Server;

/// How long the versions run between two changes.
const PAUSE: Duration = Duration::from_secs(6);

pub async fn run(_: &Args) -> Result<(), Problem> {
    let server = Server::start("", None)?;
    server.say("CREATE DATABASE versions").await?;
    for kind in Kind::ALL {
        let folder = tempfile::tempdir()?;
        let address = match kind {
            Kind::Sqlite => folder.path().join("shop.db").display().to_string(),
            Kind::Pg => server.url("versions"),
        };
        println!("{}: {}", kind.title(), roll(&address).await?);
    }
    Ok(())
}

/// A running version of the shop.
struct Version(Child);

impl Version {
    /// Starts an executable and waits until its worker has started.
    fn start(program: &str, address: &str) -> Result<Self, Problem> {
        let mut command = Command::new(std::env::current_exe()?.with_file_name(program));
        let mut child = command.arg(address).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("the output is piped")?;
        let first = BufReader::new(output).lines().next().transpose()?;
        if first.as_deref() != Some("started") {
            return Err(format!("{program} has not started").into());
        }
        Ok(Self(child))
    }

    fn stop(mut self) -> Result<(), Problem> {
        signal("-TERM", &self.0)?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Rolls the second version out beside the first one, and restarts an old process. Returns a summary.
async fn roll(address: &str) -> Result<String, Problem> {
    let (first, second) =
        (Version::start("shop_old", address)?, Version::start("shop_old", address)?);
    tokio::time::sleep(PAUSE).await;
    let store = Opened::open(address).await?;
    let operator = Ratchet::builder_shared(store.shared()).jobs([Tick::JOB]).build().await?;
    check_limits(&operator, "the first version", ["mail rate 1", "rows 4"]).await?;
    let mut set = QueueLimits::default();
    set.concurrency = Some(2);
    operator.queues().limit("ops", set).await?;
    let new = Version::start("shop_new", address)?;
    let renamed = Timestamp::now();
    check_limits(&operator, "the second version", ["ops 2", "rows 8"]).await?;
    tokio::time::sleep(PAUSE).await;
    first.stop()?;
    // An old process that is restarted during the rollout must change nothing.
    let again = Version::start("shop_old", address)?;
    check_limits(&operator, "an old process restarted", ["ops 2", "rows 8"]).await?;
    tokio::time::sleep(PAUSE).await;
    second.stop()?;
    again.stop()?;
    tokio::time::sleep(PAUSE).await;
    new.stop()?;
    store.close().await;
    audit(address, renamed).await
}

/// Fails unless these are the limits of the queues.
async fn check_limits(operator: &Ratchet, after: &str, expected: [&str; 2]) -> Result<(), Problem> {
    let limit =
        |record: QueueRecord| match (record.rules.limits.concurrency, record.rules.limits.rate) {
            (Some(limit), _) => format!("{} {limit}", record.queue),
            (None, Some(rate)) => format!("{} rate {}", record.queue, rate.jobs),
            (None, None) => record.queue,
        };
    let limits: Vec<_> = operator.queues().list().await?.into_iter().map(limit).collect();
    if limits != expected {
        return Err(format!("after {after} the limits are {limits:?}, not {expected:?}").into());
    }
    Ok(())
}

async fn audit(address: &str, renamed: Timestamp) -> Result<String, Problem> {
    let store = Opened::open(address).await?;
    let ratchet = Ratchet::builder_shared(store.shared()).jobs([Tick::JOB]).build().await?;
    let page = PageRequest { before: None, limit: 10_000 };
    let mut occurrences: BTreeMap<(&str, Timestamp), u32> = BTreeMap::new();
    for job in ratchet.jobs().list(&Filter::any(), page).await?.jobs {
        let what = match job.spec.name.as_str() {
            "shop.bill" | "shop.charge" => "charge",
            "shop.tidy" => "tidy",
            _ => "report",
        };
        *occurrences.entry((what, job.due)).or_default() += 1;
    }
    if let Some(((what, at), times)) = occurrences.iter().find(|(_, times)| **times != 1) {
        return Err(format!("the occurrence of {what} at {at} is {times} jobs").into());
    }
    let of = |wanted: &str| {
        let matching = occurrences.keys().filter(|(what, _)| *what == wanted);
        matching.map(|(_, at)| at.as_second()).collect::<Vec<_>>()
    };
    let charges = of("charge");
    let gap = charges.windows(2).find(|pair| pair[1] != pair[0] + 1);
    if let Some(gap) = gap {
        return Err(format!("no occurrence of charge between {} and {}", gap[0], gap[1]).into());
    }
    let late = |what: &str| of(what).into_iter().filter(|at| *at > renamed.as_second()).count();
    if late("tidy") + late("report") > 0 {
        return Err("a schedule that the new version does not declare has fired".into());
    }
    let left = ratchet.schedules().list().await?;
    let mut left: Vec<_> = left.iter().map(|view| view.schedule.name.as_str()).collect();
    left.sort_unstable();
    let summary = format!(
        "{} occurrences of the renamed job, one job each, none missing; {} of the other two, none after the new version had started; schedules left: {}; limits that the new version does not declare were removed, an old process brought none back, and those of an operator stayed",
        charges.len(),
        of("tidy").len() + of("report").len(),
        left.join(", "),
    );
    store.close().await;
    Ok(summary)
}
