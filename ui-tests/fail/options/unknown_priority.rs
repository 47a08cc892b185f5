use ratchet::job;

#[job(priority = urgent)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
