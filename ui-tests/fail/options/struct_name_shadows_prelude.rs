use ratchet::job;

#[job(struct_name = String)]
async fn send_email(to: u32) {
    drop(to);
}

fn main() {}
