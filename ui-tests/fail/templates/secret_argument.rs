use ratchet::job;

#[job(idempotency_key = "card-{card}")]
async fn pay(#[job(secret)] card: String) {
    drop(card);
}

fn main() {}
