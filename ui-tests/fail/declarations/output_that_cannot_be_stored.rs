use ratchet::job;

struct Receipt;

#[job]
async fn send_email(to: String) -> Receipt;

fn main() {}
