use ratchet::job;

#[job(queue = "")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
