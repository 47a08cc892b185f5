use ratchet::{circuit_breaker, job};

struct NotFound;

#[circuit_breaker(service = "gateway", ignore(NotFound))]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
