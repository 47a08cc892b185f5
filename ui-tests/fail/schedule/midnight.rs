use ratchet::job;

#[job(cron = "@midnight")]
async fn tidy() {}

fn main() {}
