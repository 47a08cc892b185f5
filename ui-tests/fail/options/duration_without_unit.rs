use ratchet::job;

#[job(timeout = "30")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
