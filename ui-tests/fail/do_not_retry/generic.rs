use ratchet::do_not_retry;

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
#[error("declined")]
struct Declined<T: std::fmt::Debug>(T);

fn main() {}
