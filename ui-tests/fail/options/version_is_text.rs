use ratchet::job;

#[job(version = "2")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
