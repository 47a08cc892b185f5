use ratchet::job;

fn check(_: &SendEmail) -> Result<(), String> {
    Ok(())
}

const _: fn(&SendEmail) -> Result<(), String> = check;

#[job(validate = chekc)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
