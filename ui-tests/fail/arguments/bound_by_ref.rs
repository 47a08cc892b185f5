use ratchet::job;

#[job]
async fn draw(ref x: u8) {
    let _ = x;
}

fn main() {}
