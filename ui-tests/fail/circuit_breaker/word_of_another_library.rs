use ratchet::job;

#[job]
#[circuit_breaker(service = "gateway", threshold = 50)]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
