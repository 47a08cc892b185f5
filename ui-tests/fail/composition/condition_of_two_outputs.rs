use ratchet::condition;

#[condition]
pub fn is_big(a: &u32, b: &u32) -> bool {
    a > b
}

fn main() {}
