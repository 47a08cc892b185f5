use ratchet::job;

#[job]
async fn send_email(#[inject] #[job(alias = "context")] ctx: ratchet::JobContext) {
    drop(ctx);
}

fn main() {}
