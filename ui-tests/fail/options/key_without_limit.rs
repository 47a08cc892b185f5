use ratchet::job;

#[job(concurrency_key = "mail-{to}")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
