use ratchet::job;

#[job(cron = "0 3 * * *", delay = "1h")]
async fn close_books() {}

fn main() {}
