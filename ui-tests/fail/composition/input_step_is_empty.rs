use ratchet::job;

#[job]
async fn send_email(#[input(step = "")] n: u32) {
    drop(n);
}

fn main() {}
