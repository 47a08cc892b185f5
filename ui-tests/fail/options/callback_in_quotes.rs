use ratchet::job;

#[job(on_success = "SendReceipt")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
