use ratchet::job;

#[job(queue = "mail", queue = "post")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
