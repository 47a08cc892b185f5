use ratchet::do_not_retry;

#[do_not_retry(message = "no")]
#[derive(Debug, thiserror::Error)]
#[error("declined")]
struct Declined;

fn main() {}
