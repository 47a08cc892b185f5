use ratchet::job;

#[job(max_retries = 1001)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
