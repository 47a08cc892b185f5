use ratchet::job;

#[job(cron = "0 3 31 2 *")]
async fn close_books() {}

fn main() {}
