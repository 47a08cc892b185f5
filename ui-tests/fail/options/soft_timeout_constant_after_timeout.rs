use ratchet::job;

const SOFT: std::time::Duration = std::time::Duration::from_secs(60);

#[job(timeout = "30s", soft_timeout = SOFT)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
