use ratchet::job;

#[job(timeout = "365000d")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
