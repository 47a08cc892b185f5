use ratchet::job;

#[job(timeout = "3w")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
