#[circuit_breaker(service = "gateway", profile = "api", failure_rate = 50, window = 20, min_calls = MIN, open_for = "30s", probes = 2, ignore(NotFound, errors::Gone))]
#[job]
async fn pay(amount: u32) {
    let _ = amount;
}
