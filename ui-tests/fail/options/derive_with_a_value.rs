use ratchet::job;

#[job(derive = Debug)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
