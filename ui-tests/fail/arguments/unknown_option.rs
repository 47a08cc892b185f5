use ratchet::job;

#[job]
async fn pay(#[job(redact)] card: String) {
    drop(card);
}

fn main() {}
