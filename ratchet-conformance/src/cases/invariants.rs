//! Invariants, checked against all jobs in between random operations.

use std::collections::{BTreeMap, HashMap};

use ratchet_store::model::{Filter, JobRecord, JobState, PageRequest};

use crate::World;
use crate::differential::{Driver, generate};

const ROUNDS: usize = 12;
const OPS_PER_ROUND: usize = 30;

/// Runs random operations and calls `look` with all jobs after every round.
pub(super) async fn amid_chaos<'a, F: Future<Output = ()>>(
    world: &'a World,
    seed: u64,
    look: impl Fn(&'a World, Vec<JobRecord>) -> F,
) {
    let mut driver = Driver::new(world.harness()).await;
    let ops = generate(seed, world.harness().rounds(ROUNDS) * OPS_PER_ROUND);
    for round in ops.chunks(OPS_PER_ROUND) {
        for op in round {
            driver.act(op).await;
        }
        let everything = PageRequest { before: None, limit: 100_000 };
        let page = world.store.list(&Filter::any(), everything).await.expect("a page");
        look(world, page.jobs).await;
    }
}

pub async fn v_03_counts_agree_with_the_listing(world: &World) {
    amid_chaos(world, 1, |world, jobs| async move {
        let mut listed = BTreeMap::new();
        for job in &jobs {
            *listed.entry((job.spec.queue.as_str(), job.state)).or_insert(0) += 1;
        }
        let counts = world.counts().await;
        for state in JobState::ALL {
            for queue in ["default", "other"] {
                let wanted = listed.get(&(queue, state)).copied().unwrap_or(0);
                assert_eq!(counts.on(queue, state), wanted, "{queue} {state}");
            }
        }
    })
    .await;
}

pub async fn s_04_no_key_has_two_live_holders(world: &World) {
    amid_chaos(world, 2, |_, jobs| async move {
        let mut holders = HashMap::new();
        for job in jobs.iter().filter(|job| job.is_live()) {
            if let Some(key) = &job.spec.business_key {
                let other = holders.insert((&job.spec.tenant, key), job.id);
                assert_eq!(other, None, "{key} is held by {} too", job.id);
            }
        }
    })
    .await;
}

pub async fn s_03_no_key_has_two_jobs(world: &World) {
    amid_chaos(world, 3, |_, jobs| async move {
        let mut made = HashMap::new();
        for job in &jobs {
            if let Some(key) = &job.spec.idempotency_key {
                let other = made.insert((&job.spec.tenant, key), job.id);
                assert_eq!(other, None, "{key} made {} too", job.id);
            }
        }
    })
    .await;
}

pub async fn q_02_no_key_runs_beyond_its_limit(world: &World) {
    amid_chaos(world, 4, |_, jobs| async move {
        let mut running = HashMap::<_, u32>::new();
        for job in jobs.iter().filter(|job| job.state == JobState::Running) {
            if let Some(key) = &job.spec.concurrency {
                *running.entry(&key.key).or_default() += 1;
            }
        }
        // The generator sets the limit of every key to one or two.
        assert!(running.values().all(|count| *count <= 2), "{running:?}");
    })
    .await;
}

pub async fn l_07_history_has_a_line_for_every_ended_run(world: &World) {
    amid_chaos(world, 5, |world, jobs| async move {
        for job in jobs {
            let runs: Vec<_> = world.history(job.id).await.iter().map(|line| line.run).collect();
            let ended = job.run - u64::from(job.state == JobState::Running);
            assert_eq!(runs, (1..=ended).collect::<Vec<_>>(), "{job:?}");
        }
    })
    .await;
}

pub async fn l_01_records_fit_their_state(world: &World) {
    amid_chaos(world, 6, |_, jobs| async move {
        for job in jobs {
            let paused = job.state == JobState::Paused;
            assert_eq!(job.paused_from.is_some(), paused, "{job:?}");
            let at = job.paused_from.unwrap_or(job.state);
            assert_eq!(job.finished_at.is_some(), at.is_terminal(), "{job:?}");
            assert_eq!(job.envelope.is_some(), at == JobState::Failed, "{job:?}");
            assert_eq!(job.canceled.is_some(), at == JobState::Canceled, "{job:?}");
            assert!(job.output.is_none() || at == JobState::Succeeded, "{job:?}");
            assert!(job.version >= job.run, "{job:?}");
        }
    })
    .await;
}
