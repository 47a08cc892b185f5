use ratchet::job;

#[job]
async fn send_email(#[input(step = "a")] #[input(step = "b")] n: u32) {
    drop(n);
}

fn main() {}
