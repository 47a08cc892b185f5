use ratchet::jobs;

struct Mailer;

#[jobs]
impl Mailer {
    #[job]
    async fn send(&self, to: &str) {
        let _ = to;
    }
}

fn main() {}
