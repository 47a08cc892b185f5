use ratchet::job;

#[job]
async fn send_email(to: String, subject: String) {
    drop((to, subject));
}

fn enqueue<J: ratchet::Job>(_: J) {}

pub fn submit() {
    enqueue(SendEmail { to: String::new() });
}

fn main() {}
