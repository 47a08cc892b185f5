use ratchet::job;

#[job(cron = "0 3 1 13 *")]
async fn tidy() {}

fn main() {}
