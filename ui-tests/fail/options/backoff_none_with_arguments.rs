use ratchet::job;

#[job(backoff = none("1s"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
