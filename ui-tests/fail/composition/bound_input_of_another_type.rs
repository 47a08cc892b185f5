use ratchet::{Ratchet, job};

#[job]
async fn name() -> String {
    "a".to_owned()
}

#[job]
async fn add(#[input] a: u32, #[input] b: u32) -> u32 {
    a + b
}

pub fn submit(ratchet: &Ratchet) {
    let mut flow = ratchet.workflow("flow");
    let name = flow.step("name", Name {}, |step| step);
    flow.step("add", Add {}, |step| step.input(Add::INPUT_A, &name));
}

fn main() {}
