use ratchet::job;

#[job(name = "send email")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
