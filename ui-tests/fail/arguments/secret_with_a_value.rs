use ratchet::job;

#[job]
async fn send_email(#[job(secret = true)] token: String) {
    drop(token);
}

fn main() {}
