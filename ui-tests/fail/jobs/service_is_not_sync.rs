use ratchet::jobs;

use std::cell::Cell;

struct Mailer {
    sent: Cell<u32>,
}

#[jobs]
impl Mailer {
    #[job]
    async fn send(&self, to: String) {
        self.sent.set(self.sent.get() + 1);
        drop(to);
    }
}

fn main() {}
