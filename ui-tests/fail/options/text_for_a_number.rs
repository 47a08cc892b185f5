use ratchet::job;

#[job(max_retries = "five")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
