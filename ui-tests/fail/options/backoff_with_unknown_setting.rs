use ratchet::job;

#[job(backoff = linear("1s", factor = 2.0))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
