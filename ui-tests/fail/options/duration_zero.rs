use ratchet::job;

#[job(timeout = "0s")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
