use ratchet::job;

#[job(blocking)]
async fn bill(amount: u32) {
    let _ = amount;
}

fn main() {}
