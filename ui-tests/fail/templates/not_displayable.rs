use ratchet::job;

#[job(business_key = "order-{tags}")]
async fn ship(tags: Vec<String>) {
    drop(tags);
}

fn main() {}
