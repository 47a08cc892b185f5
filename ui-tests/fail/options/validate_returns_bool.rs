use ratchet::job;

fn check(email: &SendEmail) -> bool {
    email.to.is_empty()
}

#[job(validate = check)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
