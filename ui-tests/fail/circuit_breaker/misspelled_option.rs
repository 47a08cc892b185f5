use ratchet::{circuit_breaker, job};

#[circuit_breaker(service = "gateway", failur_rate = 50)]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
