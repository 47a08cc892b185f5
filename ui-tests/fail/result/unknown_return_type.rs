use ratchet::job;

#[job]
async fn bill() -> Reciept {
    loop {}
}

fn main() {}
