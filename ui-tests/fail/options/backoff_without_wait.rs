use ratchet::job;

#[job(backoff = fixed)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
