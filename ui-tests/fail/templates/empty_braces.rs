use ratchet::job;

#[job(business_key = "order-{}")]
async fn ship(id: u32, kind: String) {
    let _ = (id, kind);
}

fn main() {}
