use ratchet::{Ratchet, job};

#[job]
async fn count(to: u32) -> Result<u32, std::io::Error> {
    Ok(to)
}

pub async fn submit(ratchet: &Ratchet) -> String {
    let handle = ratchet.enqueue(Count { to: 5 }).await.unwrap();
    handle.wait().await.unwrap()
}

fn main() {}
