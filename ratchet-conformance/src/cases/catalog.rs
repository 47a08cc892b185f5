//! The catalog: what the programs of a cluster can run, recorded when their workers join.

use std::sync::Arc;

use ratchet_store::model::{CatalogArg, CatalogEntry, CatalogRecord, JobSpec};
use ratchet_store::rules::catalog::digest;

use crate::World;
use crate::fixture::{days, hours};

fn entry(name: &str, version: u32, args: &[&str]) -> CatalogEntry {
    let mut spec = JobSpec::new(name, b"ignored".to_vec());
    spec.version = version;
    spec.queue = "mail".to_owned();
    spec.tags = vec!["a \u{0} b".to_owned()];
    let mut entry = CatalogEntry::new(spec);
    entry.docs = "Sends a letter. \u{1f4ee}".to_owned();
    entry.aliases = vec!["old".to_owned()];
    entry.args = args.iter().map(|arg| CatalogArg::new(*arg, "String")).collect();
    entry.schedule = Some("0 3 * * *".to_owned());
    entry.shape = Some(serde_json::json!({ "type": "object" }));
    entry
}

/// Starts a worker of a program.
async fn start(world: &World, program: &str, version: &str, entries: &[CatalogEntry]) {
    let mut info = world.stranger().info();
    program.clone_into(&mut info.declarations.program);
    version.clone_into(&mut info.binary_version);
    info.catalog = Arc::new(entries.to_vec());
    world.store.join(info, hours(1)).await.expect("joins");
}

async fn catalog(world: &World) -> Vec<CatalogRecord> {
    world.store.catalog().await.expect("lists")
}

pub async fn k_01_a_starting_worker_records_what_it_can_run(world: &World) {
    let (mail, report) = (entry("mail", 2, &["to"]), entry("report", 1, &[]));
    start(world, "shop", "1.0", &[report.clone(), mail.clone()]).await;
    let records = catalog(world).await;
    let entries: Vec<_> = records.iter().map(|record| &record.entry).collect();
    assert_eq!(entries, [&mail, &report], "ordered by name, and read back as written");
    for record in &records {
        assert_eq!((record.program.as_str(), record.binary_version.as_str()), ("shop", "1.0"));
        assert_eq!(record.digest, digest(&record.entry));
        assert_eq!(record.first_seen, record.last_seen);
    }
    let node = &world.store.nodes().await.expect("lists")[0];
    assert!(node.info.catalog.is_empty(), "a node that is read has no catalog");
}

pub async fn k_01_the_same_entry_is_recorded_once(world: &World) {
    let mail = entry("mail", 1, &["to"]);
    start(world, "shop", "1.0", std::slice::from_ref(&mail)).await;
    let first = catalog(world).await.remove(0);
    world.pass(hours(2)).await;
    start(world, "shop", "1.1", &[mail.clone(), mail.clone()]).await;
    let records = catalog(world).await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].binary_version, "1.1");
    assert_eq!(records[0].first_seen, first.first_seen);
    assert!(records[0].last_seen > first.last_seen);
}

pub async fn k_01_another_entry_or_program_is_another_row(world: &World) {
    let (old, new) = (entry("mail", 1, &["to"]), entry("mail", 1, &["to", "subject"]));
    start(world, "shop", "1.0", std::slice::from_ref(&old)).await;
    world.pass(hours(2)).await;
    start(world, "shop", "2.0", std::slice::from_ref(&new)).await;
    start(world, "admin", "1.0", std::slice::from_ref(&old)).await;
    let records = catalog(world).await;
    let rows: Vec<_> =
        records.iter().map(|record| (record.program.as_str(), record.entry.args.len())).collect();
    assert_eq!(rows, [("admin", 1), ("shop", 2), ("shop", 1)], "the newest of a program is first");
}

pub async fn k_01_entries_that_no_worker_has_are_removed_after_a_time(world: &World) {
    start(world, "shop", "1.0", &[entry("gone", 1, &[]), entry("mail", 1, &[])]).await;
    world.pass(days(399)).await;
    start(world, "shop", "2.0", &[entry("mail", 1, &[])]).await;
    assert_eq!(catalog(world).await.len(), 2);
    world.pass(days(2)).await;
    start(world, "shop", "2.0", &[entry("mail", 1, &[])]).await;
    let names: Vec<_> = catalog(world).await.into_iter().map(|record| record.entry.name).collect();
    assert_eq!(names, ["mail"]);
}
