use ratchet::job;

struct Mailer;

#[job]
impl Mailer {
    async fn send(&self) {}
}

fn main() {}
