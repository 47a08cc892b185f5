use ratchet::job;

#[job]
async fn greet(tags: Option<&[u8]>) {
    let _ = tags;
}

fn main() {}
