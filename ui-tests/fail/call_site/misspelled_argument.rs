use ratchet::job;

#[job]
async fn send_email(to: String) {
    drop(to);
}

fn enqueue<J: ratchet::Job>(_: J) {}

pub fn submit() {
    enqueue(SendEmail { too: String::new() });
}

fn main() {}
