use ratchet::job;

#[job(derive())]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
