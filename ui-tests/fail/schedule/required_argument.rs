use ratchet::job;

#[job(cron = "0 3 * * *")]
async fn report(day: u32) {
    let _ = day;
}

fn main() {}
