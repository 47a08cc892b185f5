use ratchet::job;

trait Send2 {
    fn send(&self, to: String) -> impl Future<Output = ()>;
}

struct Mailer;

impl Send2 for Mailer {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
