use ratchet::job;

#[job]
async fn send_email(#[serde(with = "a b")] to: String) {
    drop(to);
}

fn main() {}
