use ratchet::circuit_breaker;

#[circuit_breaker(service = "gateway")]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
