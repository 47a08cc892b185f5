use ratchet::job;

#[job(tags("mail", "mail"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
