use ratchet::job;

pub struct Count;

#[job]
async fn total(#[input(all)] counts: Vec<Count>) -> usize {
    counts.len()
}

fn main() {}
