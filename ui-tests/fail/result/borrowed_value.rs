use ratchet::job;

#[job]
async fn bill() -> &'static str {
    "paid"
}

fn main() {}
