use ratchet::condition;

#[condition]
async fn is_empty(text: &String) -> bool {
    text.is_empty()
}

fn main() {}
