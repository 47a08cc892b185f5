use ratchet::job;

trait Mailer {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
