use ratchet::job;

#[job(tags())]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
