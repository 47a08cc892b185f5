use ratchet::job;

#[job]
async fn send_email(#[job(default(5))] retries: u32) {
    drop(retries);
}

fn main() {}
