use ratchet::condition;

#[condition(name = "is big")]
pub fn is_big(a: &u32) -> bool {
    *a > 1
}

fn main() {}
