use ratchet::job;

#[job(single_instance = false)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
