use ratchet::job;

#[job(backoff = "5s")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
