use ratchet::do_not_retry;

#[do_not_retry(all = true)]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("declined")]
    Declined,
    #[error("timed out")]
    Timeout,
}

fn main() {}
