use ratchet::job;

#[job]
async fn result(amount: u32) {
    let _ = amount;
}

fn main() {}
