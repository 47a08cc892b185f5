use ratchet::job;

use std::error::Error;

#[job]
async fn bill(amount: u32) -> Result<u32, Box<dyn Error>> {
    Ok(amount)
}

fn main() {}
