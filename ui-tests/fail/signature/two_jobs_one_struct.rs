use ratchet::job;

#[job]
async fn send_email() {}

#[job]
async fn send__email() {}

fn main() {}
