use ratchet::{Ratchet, job};

#[job]
async fn print(#[input] text: String) {
    drop(text);
}

pub fn submit(ratchet: &Ratchet) {
    let _ = ratchet.chain(Print {});
}

fn main() {}
