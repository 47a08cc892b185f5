use ratchet::job;

#[job(crate = "ratchet")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
