use ratchet::job;

#[job(single_instance(true))]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
