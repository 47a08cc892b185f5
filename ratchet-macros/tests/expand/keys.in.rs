#[job(business_key = "{{order}}-{order.id}", idempotency_key = "{r#type}/{pair.0}", concurrency_key = "customer-{customer}", concurrency_limit = 3)]
async fn ship(order: Order, r#type: String, pair: (u8, u8), customer: u32) {
    drop((order, r#type, pair, customer));
}
