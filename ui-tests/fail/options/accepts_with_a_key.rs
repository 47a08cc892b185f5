use ratchet::prelude::*;

#[job(accepts = "pages", idempotency_key = "page-{page.key}")]
async fn index(page: HandedOff<String>) {
    drop(page);
}

fn main() {}
