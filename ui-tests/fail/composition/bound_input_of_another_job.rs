use ratchet::{Ratchet, job};

#[job]
async fn count() -> u32 {
    1
}

#[job]
async fn print(#[input] a: u32) {
    drop(a);
}

#[job]
async fn add(#[input] a: u32, #[input] b: u32) -> u32 {
    a + b
}

pub fn submit(ratchet: &Ratchet) {
    let mut flow = ratchet.workflow("flow");
    let count = flow.step("count", Count {}, |step| step);
    flow.step("add", Add {}, |step| step.input(Print::INPUT_A, &count));
}

fn main() {}
