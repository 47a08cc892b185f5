use ratchet::job;

#[job(alias("a", "b"))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
