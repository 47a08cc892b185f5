use ratchet::job;
use ratchet::security::Secret;

#[job(business_key = "card-{card}")]
async fn pay(card: Option<Secret<String>>) {
    drop(card);
}

fn main() {}
