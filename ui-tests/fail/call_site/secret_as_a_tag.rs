use ratchet::security::Secret;
use ratchet::{Ratchet, SubmitError, job};

#[job]
async fn pay(card: Secret<String>) {
    drop(card);
}

async fn submit(ratchet: &Ratchet, card: Secret<String>) -> Result<(), SubmitError> {
    ratchet.enqueue(Pay::new(card.clone())).tag(card).await?;
    Ok(())
}

fn main() {}
