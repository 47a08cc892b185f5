use ratchet::job;

#[job]
#[tokio::main]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
