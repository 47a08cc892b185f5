use ratchet::job;

#[job]
mod email {}

fn main() {}
