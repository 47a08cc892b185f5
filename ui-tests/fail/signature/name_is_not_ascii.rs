use ratchet::job;

#[job]
async fn größe(n: u32) {
    let _ = n;
}

fn main() {}
