use ratchet::condition;

#[condition]
pub fn is_big(count: &u32) {
    let _ = count;
}

fn main() {}
