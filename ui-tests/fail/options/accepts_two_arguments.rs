use ratchet::{HandedOff, job};

#[job(accepts = "pages")]
async fn index(page: HandedOff<String>, language: String) {
    drop((page, language));
}

#[job(accepts = "pages")]
async fn refresh() {}

fn main() {}
