use ratchet::job;

#[job(version = 0)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
