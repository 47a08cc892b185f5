use ratchet::job;

#[job]
async fn draw(_: String) {}

fn main() {}
