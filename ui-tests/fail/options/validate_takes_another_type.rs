use ratchet::job;

fn check(_: &u32) -> Result<(), String> {
    Ok(())
}

#[job(validate = check)]
async fn pay(amount: u32) {
    let _ = amount;
}

fn main() {}
