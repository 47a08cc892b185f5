use ratchet::job;

#[job(cron = "0 3 * * *", tz = "Europe/Berln")]
async fn report() {}

fn main() {}
