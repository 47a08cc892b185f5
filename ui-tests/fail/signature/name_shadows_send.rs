use ratchet::job;

#[job]
async fn send(to: String) {
    drop(to);
}

fn main() {}
