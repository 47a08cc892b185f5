use ratchet::job;

#[job(cron = "0 3 * * *", tz = "")]
async fn tidy() {}

fn main() {}
