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
    let mut flow = ratchet.workflow("flow");
    let count = flow.step("count", Count {}, |step| step);
    flow.step("print", Print {}, |step| step.after(&count));
}

fn main() {}
