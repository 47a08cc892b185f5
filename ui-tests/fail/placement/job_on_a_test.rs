use ratchet::job;

#[job]
#[test]
async fn send_email() {}

fn main() {}
