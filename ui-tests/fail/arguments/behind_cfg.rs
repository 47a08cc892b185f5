use ratchet::job;

#[job]
async fn draw(#[cfg(unix)] x: u8) {
    let _ = x;
}

fn main() {}
