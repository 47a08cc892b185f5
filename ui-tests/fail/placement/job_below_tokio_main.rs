use ratchet::job;

// What is left of `async fn main` after a `#[tokio::main]` above.
#[job]
fn main() {}
