use ratchet::{JobContext, job};

#[job(business_key = "order-{ctx}")]
async fn ship(#[inject] ctx: JobContext, id: u32) {
    let _ = (ctx, id);
}

fn main() {}
