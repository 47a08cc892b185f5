use ratchet::job;

#[job]
async fn pay(#[job(default = "5")] amount: u32) {
    let _ = amount;
}

fn main() {}
