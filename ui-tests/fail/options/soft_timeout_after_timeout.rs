use ratchet::job;

#[job(timeout = "30s", soft_timeout = "1m")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
