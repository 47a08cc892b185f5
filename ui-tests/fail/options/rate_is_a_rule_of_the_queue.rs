use ratchet::job;

#[job(rate = "100/s")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
