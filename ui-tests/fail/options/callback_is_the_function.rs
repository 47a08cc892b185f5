use ratchet::job;

#[job]
async fn receipt() {}

#[job(on_success = receipt)]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
