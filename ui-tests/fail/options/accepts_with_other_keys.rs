use ratchet::{HandedOff, job};

#[job(accepts = "pages", idempotency_key = "page-{page.key}")]
async fn index(page: HandedOff<String>) {
    drop(page);
}

#[job(accepts = "pages", cron = "0 3 * * *")]
async fn nightly(#[job(default)] page: HandedOff<String>) {
    drop(page);
}

fn main() {}
