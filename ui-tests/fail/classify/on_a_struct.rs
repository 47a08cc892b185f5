use ratchet::classify;

#[classify]
#[derive(Debug, thiserror::Error)]
#[error("gone")]
pub struct Gone;

fn main() {}
