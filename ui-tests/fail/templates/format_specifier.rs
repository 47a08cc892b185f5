use ratchet::job;

#[job(idempotency_key = "order-{id:?}")]
async fn ship(id: u32, kind: String) {
    let _ = (id, kind);
}

fn main() {}
