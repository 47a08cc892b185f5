use ratchet::{Ratchet, condition, job};

#[job]
async fn count() -> u64 {
    1
}

#[job]
async fn stop() {}

#[condition]
fn is_empty(text: &String) -> bool {
    text.is_empty()
}

pub fn submit(ratchet: &Ratchet) {
    let mut flow = ratchet.workflow("flow");
    let count = flow.step("count", Count {}, |step| step);
    flow.step("stop", Stop {}, |step| step.after_if(&count, IS_EMPTY));
}

fn main() {}
