use ratchet::job;

#[job(cron = 5)]
async fn tidy() {}

fn main() {}
