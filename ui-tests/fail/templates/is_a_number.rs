use ratchet::job;

#[job(business_key = 5)]
async fn send_email(to: String) {
    drop(to);
}

fn main() {}
