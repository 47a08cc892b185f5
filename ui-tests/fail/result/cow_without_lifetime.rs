use ratchet::job;

use std::borrow::Cow;

#[job]
async fn bill(amount: u32) -> Cow<str> {
    amount.to_string().into()
}

fn main() {}
