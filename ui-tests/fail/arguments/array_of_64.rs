use ratchet::job;

#[job]
async fn sign(key: [u8; 64]) {
    let _ = key;
}

fn main() {}
