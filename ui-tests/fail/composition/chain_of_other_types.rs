use ratchet::{Ratchet, job};

#[job]
async fn count() -> u64 {
    1
}

#[job]
async fn print(#[input] text: String) {
    drop(text);
}

pub fn submit(ratchet: &Ratchet) {
    let _ = ratchet.chain(Count {}).then(Print {});
}

fn main() {}
