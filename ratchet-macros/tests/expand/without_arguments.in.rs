#[job]
async fn tick() {}
