use ratchet::{Ratchet, job};

#[job]
async fn count() {}

pub fn submit(ratchet: &Ratchet) {
    let mut flow = ratchet.workflow("flow");
    let rows = flow.batch("rows", ratchet.batch("rows").jobs([Count {}]), |step| step);
    flow.step("count", Count {}, |step| step.otherwise(&rows));
}

fn main() {}
