use ratchet::job;

#[job]
#[circuit_breaker]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
