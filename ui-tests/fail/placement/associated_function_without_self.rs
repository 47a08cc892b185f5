use ratchet::job;

struct Mailer;

impl Mailer {
    #[job]
    async fn start(to: String) {
        drop(to);
    }
}

fn main() {}
