use ratchet::job;

#[job(max_retries = 0, backoff = fixed("5s"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
