#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("declined")]
    #[do_not_retry]
    Declined,
}

fn main() {}
