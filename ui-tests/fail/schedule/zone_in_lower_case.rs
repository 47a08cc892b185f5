use ratchet::job;

#[job(cron = "0 3 * * *", tz = "europe/berlin")]
async fn report() {}

fn main() {}
