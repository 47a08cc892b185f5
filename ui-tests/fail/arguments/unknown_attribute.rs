use ratchet::job;

#[job]
async fn pay(#[range(min = 1)] amount: u32) {
    let _ = amount;
}

fn main() {}
