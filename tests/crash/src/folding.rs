//! The test of the statistics: leaders are killed while they add up slots, and processes write late values meanwhile. No
//! slot may be lost or counted twice in any tier.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fastrand::Rng;
use ratchet::Store;
use ratchet_store::model::{Histogram, NodeId, NodeInfo, StatRow, StatsBy, StatsQuery, StatsTier};
use uuid::Uuid;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::server::Server;

/// The minutes that are written. Statistics of minutes are kept for 48 hours.
const MINUTES: i64 = 47 * 60;

/// Processes that write.
const SOURCES: usize = 2;

/// Rows that are written between two kills.
const LATE_ROWS: usize = 20;

/// For how long a leader leads unless it renews it. The next process waits for the end of it.
const LEADERSHIP: Duration = Duration::from_millis(200);

/// The sum of each slot, by tier, slot, queue and name.
type Sums = BTreeMap<(StatsTier, i64, String, String), StatRow>;

/// Folds one slot after the other and prints a line for each, until it is killed.
pub async fn work(args: &Args) -> Result<(), Problem> {
    let store = Opened::open(args.must("address")?).await?.shared();
    let node = node();
    store.join(NodeInfo::new(node), Duration::from_secs(600)).await?;
    loop {
        if store.try_lead(node, LEADERSHIP).await? && store.fold_stats(node, 1).await? > 0 {
            println!("folded");
        } else {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn node() -> NodeId {
    NodeId::from_uuid(Uuid::now_v7())
}

pub async fn run(args: &Args) -> Result<(), Problem> {
    let kills = args.or("kills", 50);
    let seed = args.or("seed", fastrand::u64(..100_000));
    println!("Seed {seed}.\n");
    println!(
        "| store | minutes | rows | leaders killed while they folded | slots of all tiers | slots that differ |"
    );
    println!("|---|---|---|---|---|---|");
    let server = Server::start("", None)?;
    for kind in Kind::ALL {
        let folder = tempfile::tempdir()?;
        let address = match kind {
            Kind::Sqlite => folder.path().join("folding.db").display().to_string(),
            Kind::Pg => {
                server.say("CREATE DATABASE folding").await?;
                server.url("folding")
            }
        };
        let mut scene = Scene::open(address, Rng::with_seed(seed)).await?;
        for _ in 0..kills {
            scene.kill_a_leader().await?;
        }
        let (slots, differ) = scene.compare().await?;
        let rows = scene.written.len();
        println!("| {} | {MINUTES} | {rows} | {kills} | {slots} | {differ} |", kind.title());
        if differ > 0 {
            return Err("every tier must contain exactly what was written".into());
        }
    }
    Ok(())
}

/// A store, and the last row that each process has written for each minute.
struct Scene {
    address: String,
    store: std::sync::Arc<dyn Store>,
    rng: Rng,
    sources: Vec<NodeId>,
    first: i64,
    written: BTreeMap<(i64, String, String, NodeId), StatRow>,
}

impl Scene {
    async fn open(address: String, rng: Rng) -> Result<Self, Problem> {
        let store = Opened::open(&address).await?.shared();
        let sources = (0..SOURCES).map(|_| node()).collect();
        let first = StatsTier::Minute.slot_of(store.now().await?) - MINUTES;
        let mut scene = Self { address, store, rng, sources, first, written: BTreeMap::new() };
        for minute in 0..MINUTES {
            scene.write(minute).await?;
        }
        Ok(scene)
    }

    /// Writes a row of random values for a minute. It replaces the row that the same process has written before.
    async fn write(&mut self, minute: i64) -> Result<(), Problem> {
        let rng = &mut self.rng;
        let (queue, name) =
            (["mail", "reports"][rng.usize(..2)], ["send", "build", "purge"][rng.usize(..3)]);
        let mut row = StatRow::new(self.first + minute, queue, name);
        row.counts.started = rng.u64(1..1000);
        row.counts.succeeded = row.counts.started;
        let started = row.counts.started;
        let index = rng.i32(-40..20);
        let histogram = Histogram::from_parts(0, vec![(index, started)], u128::from(started));
        row.run = histogram.ok_or("the histogram is valid")?;
        let source = self.sources[rng.usize(..self.sources.len())];
        self.store.write_stats(source, vec![row.clone()]).await?;
        self.written.insert((row.slot, row.queue.clone(), row.name.clone(), source), row);
        Ok(())
    }

    /// Starts a leader, and kills it soon after it has begun to fold. Late rows are written meanwhile.
    async fn kill_a_leader(&mut self) -> Result<(), Problem> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["folding-work", "--address", &self.address]);
        let mut leader = Leader(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?);
        let output = leader.0.stdout.take().ok_or("its output is piped")?;
        // The output stays open until the leader is dead: it would end if it could not write.
        let begun = tokio::task::spawn_blocking(move || {
            let (mut output, mut line) = (BufReader::new(output), String::new());
            output.read_line(&mut line).map(|bytes| (output, bytes > 0))
        });
        for _ in 0..LATE_ROWS {
            let minute = self.rng.i64(0..MINUTES);
            self.write(minute).await?;
        }
        let (_output, has_begun) = begun.await??;
        if !has_begun {
            return Err("the leader has ended".into());
        }
        tokio::time::sleep(Duration::from_micros(self.rng.u64(..30_000))).await;
        leader.0.kill()?;
        Ok(())
    }

    /// Folds what is left, and compares every slot of every tier with what was written. Returns the number of slots, and
    /// how many differ.
    async fn compare(&self) -> Result<(usize, usize), Problem> {
        let last = node();
        self.store.join(NodeInfo::new(last), Duration::from_secs(600)).await?;
        while !self.store.try_lead(last, Duration::from_secs(600)).await? {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        while self.store.fold_stats(last, 100).await? > 0 {}
        let (mut expected, mut found) = (Sums::new(), Sums::new());
        for tier in StatsTier::ALL {
            for row in self.written.values() {
                let mut row = row.clone();
                row.slot = tier.slot_of(StatsTier::Minute.start_of(row.slot));
                add(&mut expected, tier, row);
            }
            let mut query = StatsQuery::new(tier, self.store.now().await?, self.store.now().await?);
            (query.from, query.until, query.by) = (0, i64::MAX, StatsBy::QueueAndName);
            for row in self.store.stats(&query).await?.rows {
                add(&mut found, tier, row);
            }
        }
        let mut keys: Vec<_> = expected.keys().chain(found.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        let differ = keys.iter().filter(|key| expected.get(**key) != found.get(**key)).count();
        Ok((keys.len(), differ))
    }
}

fn add(sums: &mut Sums, tier: StatsTier, row: StatRow) {
    let key = (tier, row.slot, row.queue.clone(), row.name.clone());
    match sums.entry(key) {
        std::collections::btree_map::Entry::Vacant(sum) => drop(sum.insert(row)),
        std::collections::btree_map::Entry::Occupied(mut sum) => sum.get_mut().add(&row),
    }
}

/// A process that is killed on drop.
struct Leader(Child);

impl Drop for Leader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
