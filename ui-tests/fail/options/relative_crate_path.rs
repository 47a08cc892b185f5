use ratchet::job;

#[job(crate = my::ratchet)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
