use ratchet::do_not_retry;

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("declined")]
    #[do_not_retry(all)]
    Declined,
}

fn main() {}
