use ratchet::jobs;

struct Mailer;

#[jobs]
impl Mailer {
    #[job]
    async fn send(#[inject] &self, to: String) {
        drop(to);
    }
}

fn main() {}
