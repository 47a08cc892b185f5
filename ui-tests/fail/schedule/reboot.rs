use ratchet::job;

#[job(cron = "@reboot")]
async fn tidy() {}

fn main() {}
