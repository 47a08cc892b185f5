use ratchet::job;

#[job]
async fn bill(amount: u32) -> Result<u32, &'static str> {
    Ok(amount)
}

fn main() {}
