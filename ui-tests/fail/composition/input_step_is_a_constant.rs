use ratchet::job;

const STEP: &str = "charge";

#[job]
async fn send_email(#[input(step = STEP)] n: u32) {
    drop(n);
}

fn main() {}
