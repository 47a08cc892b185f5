use ratchet::do_not_retry;

#[do_not_retry]
struct Declined;

fn main() {}
