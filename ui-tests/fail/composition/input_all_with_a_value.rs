use ratchet::job;

#[job]
async fn total(#[input(all = true)] counts: Vec<u32>) -> usize {
    counts.len()
}

fn main() {}
