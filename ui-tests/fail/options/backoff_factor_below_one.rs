use ratchet::job;

#[job(backoff = exponential("1s", factor = 0.5))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
