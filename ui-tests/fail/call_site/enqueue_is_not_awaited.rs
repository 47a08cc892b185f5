#![deny(unused_must_use)]

use ratchet::{Ratchet, job};

#[job]
async fn send_email(to: String) {
    drop(to);
}

pub fn submit(ratchet: &Ratchet) {
    ratchet.enqueue(SendEmail { to: String::new() });
}

fn main() {}
