use ratchet::job;

#[job]
async fn send_email(#[serde(rename = "recipient")] to: String) {
    drop(to);
}

fn main() {}
