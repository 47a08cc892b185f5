use ratchet::job;

#[job]
async fn greet(name: &'static str) {
    let _ = name;
}

fn main() {}
