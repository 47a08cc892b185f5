use ratchet::job;

#[job(timeout = "1.5h")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
