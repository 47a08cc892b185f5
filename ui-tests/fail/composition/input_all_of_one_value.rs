use ratchet::job;

#[job]
async fn total(#[input(all)] counts: u32) -> u32 {
    counts
}

fn main() {}
