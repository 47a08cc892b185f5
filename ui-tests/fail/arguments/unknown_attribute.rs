use ratchet::job;

#[job]
async fn pay(#[serde(default)] amount: u32) {
    let _ = amount;
}

fn main() {}
