use ratchet::job;

#[job]
async fn send_email(to: Vec<_>) {
    drop(to);
}

fn main() {}
