#[job]
#[circuit_breaker(service = "bank", window = WINDOW, min_calls = 5, ignore(PayError::Declined, io::Error))]
async fn pay(cents: u32) {
    drop(cents);
}
