use ratchet::job;

#[job(cron = "0 17-9 * * *")]
async fn report() {}

fn main() {}
