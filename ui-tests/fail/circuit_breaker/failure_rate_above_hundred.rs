use ratchet::{circuit_breaker, job};

#[circuit_breaker(service = "gateway", failure_rate = 150)]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
