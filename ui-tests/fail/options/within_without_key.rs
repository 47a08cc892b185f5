use ratchet::job;

#[job(idempotency_within = "1h")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
