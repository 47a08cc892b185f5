use ratchet::job;
use ratchet::security::Secret;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Card {
    number: Secret<String>,
}

#[job(idempotency_key = "card-{card.number}")]
async fn pay(card: Card) {
    drop(card);
}

fn main() {}
