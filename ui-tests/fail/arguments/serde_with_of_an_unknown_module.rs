use ratchet::job;

#[job]
async fn send_email(#[serde(with = "secnods")] to: String) {
    drop(to);
}

fn main() {}
