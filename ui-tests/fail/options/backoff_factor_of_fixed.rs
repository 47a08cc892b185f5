use ratchet::job;

#[job(backoff = fixed("5s", factor = 2.0))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
