use ratchet::job;

#[job]
async fn bill(amount: u32) -> Result<u32, ()> {
    Ok(amount)
}

fn main() {}
