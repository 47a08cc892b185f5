use ratchet::job;

#[job]
async fn bill(amount: u32)
where
    u32: Copy,
{
    let _ = amount;
}

fn main() {}
