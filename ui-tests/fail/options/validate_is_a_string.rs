use ratchet::job;

#[job(validate = "check")]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
