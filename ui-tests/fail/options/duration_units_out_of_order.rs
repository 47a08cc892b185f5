use ratchet::job;

#[job(timeout = "30m1h")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
