use ratchet::{JobContext, job};

#[job]
async fn pay(
    #[inject]
    #[job(secret)]
    ctx: JobContext,
) {
    drop(ctx);
}

fn main() {}
