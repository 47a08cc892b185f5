use ratchet::{circuit_breaker, job};

#[circuit_breaker]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
