use ratchet::job;

#[job]
async fn bill(amount: u32) -> Vec<_> {
    vec![amount]
}

fn main() {}
