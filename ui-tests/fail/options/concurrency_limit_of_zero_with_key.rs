use ratchet::job;

#[job(concurrency_key = "mail", concurrency_limit = 0)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
