use ratchet::job;

#[job]
#[circuit_breaker(service = "gateway")]
#[circuit_breaker(service = "bank")]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
