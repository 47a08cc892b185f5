use ratchet::job;

#[job]
async fn bill() -> impl std::fmt::Display {
    5
}

fn main() {}
