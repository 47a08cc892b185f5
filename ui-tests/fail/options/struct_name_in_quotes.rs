use ratchet::job;

#[job(struct_name = "EmailJob")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
