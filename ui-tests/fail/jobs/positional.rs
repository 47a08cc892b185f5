use ratchet::jobs;

struct Mailer;

#[jobs("mail")]
impl Mailer {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
