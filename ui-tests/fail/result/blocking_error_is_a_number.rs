use ratchet::job;

#[job(blocking)]
fn bill(amount: u32) -> Result<(), u32> {
    Err(amount)
}

fn main() {}
