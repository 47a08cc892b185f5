use ratchet::job;

#[job(tenant = "acme")]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
