use ratchet::{circuit_breaker, job};

#[circuit_breaker(service = "gateway", window = 3, min_calls = 10)]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
