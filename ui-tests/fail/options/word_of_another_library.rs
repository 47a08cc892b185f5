use ratchet::job;

#[job(retries = 3)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
