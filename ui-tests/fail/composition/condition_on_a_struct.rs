use ratchet::condition;

#[condition]
pub struct Big;

fn main() {}
