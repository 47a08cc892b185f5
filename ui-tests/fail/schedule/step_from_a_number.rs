use ratchet::job;

#[job(cron = "5/10 * * * *")]
async fn tidy() {}

fn main() {}
