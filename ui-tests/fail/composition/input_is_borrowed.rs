use ratchet::job;

#[job]
async fn print(#[input] text: &str) {
    let _ = text;
}

fn main() {}
