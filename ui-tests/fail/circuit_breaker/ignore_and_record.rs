use ratchet::{circuit_breaker, job};

#[circuit_breaker(service = "gateway", ignore(std::fmt::Error), record(std::io::Error))]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
