use ratchet::job;

#[job(idempotency_key = "nightly")]
async fn report(day: u32) {
    drop(day);
}

fn main() {}
