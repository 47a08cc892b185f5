use ratchet::job;

#[job]
async fn draw((x, y): (u8, u8)) {
    let _ = (x, y);
}

fn main() {}
