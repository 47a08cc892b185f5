use ratchet::job;

#[job(backoff = fixed("5s", jitter = some))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
