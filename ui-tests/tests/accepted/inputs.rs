//! Inputs that the workflow binds: several of one type, lists, an alias of a list, a private type, a raw
//! name.
#![deny(warnings)]
use ratchet::job;
use serde::{Deserialize, Serialize};

type Parts = Vec<Part>;

#[derive(Serialize, Deserialize)]
pub struct Part(u32);

#[derive(Serialize, Deserialize)]
struct Private(u32);

#[job(struct_name = MakePart)]
async fn part(number: u32) -> Part {
    Part(number)
}

#[job]
pub async fn merge(#[input(all)] parts: Parts) -> Part {
    Part(parts.iter().map(|part| part.0).sum())
}

#[job]
pub async fn add(#[input] left: Part, #[input] r#type: Part, #[input(all)] rest: Vec<Part>) -> u32 {
    left.0 + r#type.0 + u32::try_from(rest.len()).unwrap_or(0)
}

#[job]
async fn keep(#[input] left: Private, #[input] right: Private) -> u32 {
    left.0 + right.0
}

pub fn submit(ratchet: &ratchet::Ratchet) {
    let mut flow = ratchet.workflow("flow");
    let parts: Vec<_> = (0..3)
        .map(|number| flow.step(format!("part {number}"), MakePart { number }, |step| step))
        .collect();
    let merge = flow.step("merge", Merge {}, |step| step.after(&parts[0]).after(&parts[1]));
    flow.step("add", Add {}, |step| {
        step.input(Add::INPUT_LEFT, &parts[0])
            .input(Add::INPUT_TYPE, &merge)
            .input_all(Add::INPUT_REST, &parts)
    });
    drop(flow);
}
