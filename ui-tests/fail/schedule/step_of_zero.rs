use ratchet::job;

#[job(cron = "*/0 * * * *")]
async fn tidy() {}

fn main() {}
