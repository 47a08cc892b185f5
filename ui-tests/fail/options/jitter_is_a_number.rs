use ratchet::job;

#[job(backoff = fixed("1s", jitter = 5))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
