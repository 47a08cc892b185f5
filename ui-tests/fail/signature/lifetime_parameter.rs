use ratchet::job;

use std::borrow::Cow;

#[job]
async fn bill<'a>(customer: Cow<'a, str>) {
    drop(customer);
}

fn main() {}
