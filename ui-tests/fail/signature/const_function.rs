use ratchet::job;

#[job(blocking)]
const fn bill(amount: u32) {
    let _ = amount;
}

fn main() {}
