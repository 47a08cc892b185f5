use ratchet::job;

#[derive(serde::Serialize, serde::Deserialize)]
struct Order {
    id: u32,
}

#[job]
async fn order(order: Order) {
    drop(order.id);
}

fn main() {}
