use ratchet::{JobContext, job};

#[job]
async fn pay(ctx: JobContext, amount: u32) {
    let _ = (ctx, amount);
}

fn main() {}
