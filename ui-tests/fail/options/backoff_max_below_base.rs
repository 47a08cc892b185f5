use ratchet::job;

#[job(backoff = exponential("1m", max = "30s"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
