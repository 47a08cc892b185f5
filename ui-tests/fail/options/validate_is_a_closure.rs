use ratchet::job;

#[job(validate = |_| Ok(()))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
