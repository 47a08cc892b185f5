use ratchet::job;

#[derive(serde::Serialize, serde::Deserialize)]
struct Order {
    id: u32,
}

#[job(concurrency_key = "order-{order.idd}", concurrency_limit = 1)]
async fn ship(order: Order) {
    drop(order);
}

fn main() {}
