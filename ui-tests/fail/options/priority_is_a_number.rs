use ratchet::job;

#[job(priority = 5)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
