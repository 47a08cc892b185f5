#![deny(unused_must_use)]

use ratchet::job;

#[job]
async fn send_email(to: String) {
    drop(to);
}

fn prepare() -> SendEmail {
    SendEmail { to: String::new() }
}

pub fn submit() {
    prepare();
}

fn main() {}
