use ratchet::job;

const KEY: &str = "order";

#[job(business_key = KEY)]
async fn ship(id: u32, kind: String) {
    let _ = (id, kind);
}

fn main() {}
