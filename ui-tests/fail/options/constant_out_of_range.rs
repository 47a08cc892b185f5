use ratchet::job;

const RETRIES: u32 = 5000;

#[job(max_retries = RETRIES)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
