use ratchet::job;

#[job(cron = "0 9 * * MOO")]
async fn report() {}

fn main() {}
