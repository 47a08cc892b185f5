use ratchet::job;

#[job(cron = "0 3 * * *")]
async fn nightly(#[input] count: u32) {
    let _ = count;
}

fn main() {}
