use ratchet::job;

#[job(business_key = "order-{idd}")]
async fn ship(id: u32, kind: String) {
    let _ = (id, kind);
}

fn main() {}
