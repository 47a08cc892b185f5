use ratchet::job;

#[job(panic = "abort")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
