use ratchet::job;

#[job]
const SEND: u32 = 5;

fn main() {}
