use ratchet::job;

#[job(cron = "0 3 * * MON#6")]
async fn tidy() {}

fn main() {}
