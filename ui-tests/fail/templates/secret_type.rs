use ratchet::{Secret, job};

#[job(business_key = "card-{card}")]
async fn pay(card: Option<Secret<String>>) {
    drop(card);
}

fn main() {}
