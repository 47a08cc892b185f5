use ratchet::job;

#[derive(serde::Serialize, serde::Deserialize)]
struct Money;

#[job]
async fn pay(#[job(default)] amount: Money) {
    drop(amount);
}

fn main() {}
