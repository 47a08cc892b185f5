use ratchet::job;

use std::rc::Rc;

async fn pause() {}

#[job]
async fn bill(amount: u32) {
    let shared = Rc::new(amount);
    pause().await;
    drop(shared);
}

fn main() {}
