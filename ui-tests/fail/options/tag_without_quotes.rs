use ratchet::job;

#[job(tags(mail))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
