use ratchet::job;

use std::borrow::Cow;

#[job]
async fn greet(name: Cow<'_, str>) {
    drop(name);
}

fn main() {}
