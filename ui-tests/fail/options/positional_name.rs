use ratchet::job;

#[job("mail")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
