use ratchet::condition;

#[condition]
fn is_empty(text: String) -> bool {
    text.is_empty()
}

fn main() {}
