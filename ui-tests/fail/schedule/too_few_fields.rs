use ratchet::job;

#[job(cron = "* * *")]
async fn report() {}

fn main() {}
