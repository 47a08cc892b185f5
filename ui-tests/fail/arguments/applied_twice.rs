use ratchet::job;

#[job]
async fn send_email(#[job(default)] #[job(secret)] to: String) {
    drop(to);
}

fn main() {}
