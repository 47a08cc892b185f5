use ratchet::job;

#[job(business_key = "{n}")]
async fn send_email(#[input] n: u32) {
    drop(n);
}

fn main() {}
