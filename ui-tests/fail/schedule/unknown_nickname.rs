use ratchet::job;

#[job(cron = "@fortnightly")]
async fn report() {}

fn main() {}
