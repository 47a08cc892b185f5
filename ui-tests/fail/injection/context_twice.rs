use ratchet::{JobContext, job};

#[job]
async fn pay(#[inject] a: JobContext, #[inject] b: JobContext) {
    let _ = (a, b);
}

fn main() {}
