use ratchet::job;

#[job]
async fn join(#[input] a: u32, #[input] b: u32) -> u32 {
    a + b
}

fn main() {}
