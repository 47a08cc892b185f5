use ratchet::job;

#[job]
fn bill(amount: u32) {
    let _ = amount;
}

fn main() {}
