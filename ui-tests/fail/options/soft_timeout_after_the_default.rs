use ratchet::job;

#[job(soft_timeout = "1h")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
