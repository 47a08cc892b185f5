use ratchet::{JobContext, job};

#[job]
async fn pay(#[inject] ctx: &JobContext) {
    let _ = ctx;
}

fn main() {}
