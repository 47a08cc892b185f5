use ratchet::job;

#[job]
trait Mailer {}

fn main() {}
