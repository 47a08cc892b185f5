use ratchet::job;

#[job(cron = "0 3 * * FRI-SUN")]
async fn tidy() {}

fn main() {}
