use ratchet::{JobContext, job};

#[job]
async fn pay(#[inject(optional)] ctx: JobContext) {
    drop(ctx);
}

fn main() {}
