use std::collections::HashSet;

use ratchet::job;

#[job]
async fn total(#[input(all)] counts: HashSet<u32>) -> usize {
    counts.len()
}

fn main() {}
