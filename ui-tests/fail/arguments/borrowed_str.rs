use ratchet::job;

#[job]
async fn greet(name: &str) {
    let _ = name;
}

fn main() {}
