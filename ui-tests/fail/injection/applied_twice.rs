use ratchet::job;

use ratchet::JobContext;

#[job]
async fn send_email(#[inject] #[inject] ctx: JobContext) {
    drop(ctx);
}

fn main() {}
