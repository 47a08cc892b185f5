use ratchet::job;

#[job]
async unsafe fn bill(amount: u32) {
    let _ = amount;
}

fn main() {}
