use ratchet::job;

#[job(blocking)]
fn send_email(to: String);

fn main() {}
