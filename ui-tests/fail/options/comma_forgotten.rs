use ratchet::job;

#[job(queue = "mail" max_retries = 5)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
