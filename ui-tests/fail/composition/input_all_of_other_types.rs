use ratchet::{Ratchet, job};

#[job]
async fn name() -> String {
    "a".to_owned()
}

#[job]
async fn total(#[input(all)] counts: Vec<u32>) -> usize {
    counts.len()
}

pub fn submit(ratchet: &Ratchet) {
    let mut flow = ratchet.workflow("flow");
    let name = flow.step("name", Name {}, |step| step);
    flow.step("total", Total {}, |step| step.after(&name));
}

fn main() {}
