use ratchet::condition;

#[condition]
pub fn is_big(count: &u32) -> u32 {
    *count
}

fn main() {}
