use ratchet::job;

struct Mailer;

impl Mailer {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
