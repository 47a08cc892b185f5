use ratchet::condition;

pub struct Order;

#[condition]
pub fn is_big(_order: &Order) -> bool {
    true
}

fn main() {}
