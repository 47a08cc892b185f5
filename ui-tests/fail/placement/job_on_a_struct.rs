use ratchet::job;

#[job]
pub struct Email {
    to: String,
}

fn main() {}
