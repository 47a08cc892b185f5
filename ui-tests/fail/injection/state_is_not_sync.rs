use std::cell::Cell;

use ratchet::{State, job};

struct Counter(Cell<u32>);

#[job]
async fn count(#[inject] counter: State<Counter>) -> u32 {
    counter.0.0.get()
}

fn main() {}
