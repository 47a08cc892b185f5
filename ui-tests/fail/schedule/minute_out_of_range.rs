use ratchet::job;

#[job(cron = "61 * * * *")]
async fn report() {}

fn main() {}
