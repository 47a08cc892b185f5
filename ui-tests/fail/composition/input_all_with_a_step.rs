use ratchet::job;

#[job]
async fn total(#[input(all, step = "count")] counts: Vec<u32>) -> usize {
    counts.len()
}

fn main() {}
