use ratchet::job;

#[job(priority = High)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
