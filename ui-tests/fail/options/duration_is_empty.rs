use ratchet::job;

#[job(timeout = "")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
