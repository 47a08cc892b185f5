use ratchet::{Ratchet, job};

#[job]
async fn send_email(to: String) {
    drop(to);
}

pub async fn submit(ratchet: &Ratchet) {
    let _ = ratchet.enqueue(send_email(String::new())).await;
}

fn main() {}
