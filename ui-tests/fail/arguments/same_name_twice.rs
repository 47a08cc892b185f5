#![allow(unused_variables)]

use ratchet::job;

#[job]
async fn draw(x: u8, x: u8) {
    let _ = x;
}

fn main() {}
