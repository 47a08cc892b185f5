use ratchet::job;

#[job(blocking = true)]
fn send_email(to: String) {
    drop(to);
}

fn main() {}
