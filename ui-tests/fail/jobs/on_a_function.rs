use ratchet::jobs;

#[jobs]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
