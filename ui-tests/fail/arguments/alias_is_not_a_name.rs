use ratchet::job;

#[job]
async fn send_email(#[job(alias = "the recipient")] to: String) {
    drop(to);
}

fn main() {}
