#[do_not_retry(reason = "the card is expired")]
#[derive(Debug, thiserror::Error)]
#[error("expired")]
pub struct Expired {
    card: u32,
}
