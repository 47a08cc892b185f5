use ratchet::job;

#[job(max_attempts = 3)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
