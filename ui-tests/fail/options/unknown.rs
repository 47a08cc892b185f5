use ratchet::job;

#[job(colour = "red")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
