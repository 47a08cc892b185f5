use ratchet::{circuit_breaker, job};

#[circuit_breaker(service = "gateway", open_for = "30")]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
