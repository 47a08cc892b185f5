use ratchet::job;

#[job(queu = "mail")]
async fn send_email(to: String) {
    drop(to);
}

fn enqueue<J: ratchet::Job>(_: J) {}

pub fn submit() {
    enqueue(SendEmail { to: String::new() });
}

fn main() {}
