use ratchet::jobs;

use std::rc::Rc;

struct Mailer;

async fn pause() {}

#[jobs]
impl Mailer {
    #[job]
    async fn send(&self, to: String) {
        let shared = Rc::new(to);
        pause().await;
        drop(shared);
    }
}

fn main() {}
