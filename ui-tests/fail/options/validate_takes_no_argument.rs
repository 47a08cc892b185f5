use ratchet::job;

fn check() -> Result<(), String> {
    Ok(())
}

#[job(validate = check)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
