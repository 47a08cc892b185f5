use std::time::Duration;

use ratchet::job;

const BASE: Duration = Duration::from_secs(60);

#[job(backoff = exponential(BASE, max = "5s"))]
async fn deliver(to: String) {
    drop(to);
}

fn main() {}
