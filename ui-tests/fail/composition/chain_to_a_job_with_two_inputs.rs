use ratchet::{Ratchet, job};

#[job]
async fn count() -> u32 {
    1
}

#[job]
async fn add(#[input] a: u32, #[input] b: u32) -> u32 {
    a + b
}

pub fn submit(ratchet: &Ratchet) {
    drop(ratchet.chain(Count {}).then(Add {}));
}

fn main() {}
