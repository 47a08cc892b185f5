use ratchet::job;

#[job]
async fn bill() -> ! {
    loop {}
}

fn main() {}
