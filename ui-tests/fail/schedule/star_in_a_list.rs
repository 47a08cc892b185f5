use ratchet::job;

#[job(cron = "1,* * * * *")]
async fn tidy() {}

fn main() {}
