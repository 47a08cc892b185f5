use ratchet::job;

#[job(struct_name = jobs::Mail)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
