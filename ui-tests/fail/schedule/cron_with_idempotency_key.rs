use ratchet::job;

#[job(cron = "0 3 * * *", idempotency_key = "nightly")]
async fn close_books() {}

fn main() {}
