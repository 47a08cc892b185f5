use ratchet::job;

const LIMIT: u32 = 30;

#[job(timeout = LIMIT)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
