use ratchet::do_not_retry;

#[do_not_retry]
fn declined() {}

fn main() {}
