use ratchet::do_not_retry;

#[do_not_retry(reason = "card {0} expired")]
#[derive(Debug, thiserror::Error)]
#[error("expired")]
pub struct Expired(u32);

fn main() {}
