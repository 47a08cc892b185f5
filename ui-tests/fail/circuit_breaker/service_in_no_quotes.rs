use ratchet::{circuit_breaker, job};

#[circuit_breaker(service = gateway)]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
