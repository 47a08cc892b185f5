use ratchet::job;

#[job(queu = "mail")]
async fn send_email(to: String);

fn main() {}
