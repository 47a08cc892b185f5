use ratchet::job;

#[job(priority = "high")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
