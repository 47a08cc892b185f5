use ratchet::job;

struct Receipt;

#[job(on_success = Receipt)]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
