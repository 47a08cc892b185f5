use ratchet::job;

struct SendEmail;

const _: SendEmail = SendEmail;

#[job]
async fn send_email() {}

fn main() {}
