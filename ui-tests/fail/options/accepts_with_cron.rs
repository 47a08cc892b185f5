use ratchet::prelude::*;

#[job(accepts = "pages", cron = "0 3 * * *")]
async fn nightly(#[job(default)] page: HandedOff<String>) {
    drop(page);
}

fn main() {}
