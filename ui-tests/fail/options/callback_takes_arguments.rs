use ratchet::job;

#[job]
async fn receipt(to: String) {
    drop(to);
}

#[job(on_success = Receipt)]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
