use ratchet::job;

#[job(name = "mail", alias = "mail")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
