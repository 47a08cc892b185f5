use ratchet::job;

#[job(blocking)]
extern "C" fn bill(amount: u32) {
    let _ = amount;
}

fn main() {}
