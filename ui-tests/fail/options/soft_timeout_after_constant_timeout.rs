use ratchet::job;

const HARD: std::time::Duration = std::time::Duration::from_secs(30);

#[job(timeout = HARD, soft_timeout = "1m")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
