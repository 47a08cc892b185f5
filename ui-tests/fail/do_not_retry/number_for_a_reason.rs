use ratchet::do_not_retry;

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("declined")]
    #[do_not_retry(reason = 5)]
    Declined,
}

fn main() {}
