use ratchet::job;

#[job(queue: "mail")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
