use ratchet::prelude::*;

#[job(accepts = "pages")]
async fn index(page: HandedOff<String>, language: String) {
    drop((page, language));
}

fn main() {}
