use ratchet::job;

#[job(backoff = exponential("1s", max = "5s", max = "6s"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
