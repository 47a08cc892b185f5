use ratchet::jobs;

struct Mailer;

#[jobs]
impl Mailer {
    #[job]
    fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
