use ratchet::jobs;

struct Mailer;

#[jobs]
impl Mailer {
    #[job(priorty = high)]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
