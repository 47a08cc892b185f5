//! Limits per tenant: each tenant runs at most two jobs at once in the whole cluster, so none of them can take all slots.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet::State;
use ratchet::prelude::*;
use ratchet_examples::Scratch;

/// The number of running jobs per tenant, and the largest number so far.
#[derive(Default)]
struct Gauge(Mutex<BTreeMap<String, (u32, u32)>>);

impl Gauge {
    fn add(&self, tenant: &str, change: i32) {
        let mut tenants = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (running, most) = tenants.entry(tenant.to_owned()).or_default();
        *running = running.saturating_add_signed(change);
        *most = (*most).max(*running);
    }
}

/// The key contains the tenant, so each tenant has slots of its own.
#[job(queue = "reports", concurrency_key = "tenant-{tenant}", concurrency_limit = 2)]
async fn report(#[inject] State(gauge): State<Arc<Gauge>>, tenant: String, number: u32) {
    gauge.add(&tenant, 1);
    tokio::time::sleep(Duration::from_millis(5)).await;
    gauge.add(&tenant, -1);
    if number == 0 {
        println!("{tenant}: the first report is done");
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("tenant-limits").await?;
    let gauge = Arc::new(Gauge::default());
    let ratchet = Ratchet::builder(scratch.store.clone()).state(Arc::clone(&gauge)).build().await?;
    // One tenant submits forty reports at once, another one submits a single report afterward.
    let large = (0..40).map(|number| Report { tenant: "large".to_owned(), number: number + 1 });
    let mut handles = ratchet.enqueue_many(large).await?;
    handles.push(ratchet.enqueue(Report { tenant: "small".to_owned(), number: 0 }).await?);
    let worker = ratchet.start().await?;
    for handle in handles {
        handle.wait().await?;
    }
    worker.stop().await;
    for (tenant, (_, most)) in
        gauge.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).iter()
    {
        println!("{tenant}: never more than two at once: {}", *most <= 2);
    }
    Ok(())
}
