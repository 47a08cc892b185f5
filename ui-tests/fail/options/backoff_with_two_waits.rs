use ratchet::job;

#[job(backoff = linear("1s", "5s"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
