use ratchet::job;

use std::borrow::Cow;

#[job]
async fn send_email(to: Cow<str>) {
    drop(to);
}

fn main() {}
