use ratchet::job;

#[job(single_instance, concurrency_limit = 3)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
