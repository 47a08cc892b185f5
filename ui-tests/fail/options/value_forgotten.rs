use ratchet::job;

#[job(name)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
