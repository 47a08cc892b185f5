use ratchet::do_not_retry;

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[do_not_retry]
    #[do_not_retry(reason = "no")]
    #[error("declined")]
    Declined,
}

fn main() {}
