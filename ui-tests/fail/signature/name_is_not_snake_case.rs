#![allow(non_snake_case)]

use ratchet::job;

#[job]
async fn Tick() {}

fn main() {}
