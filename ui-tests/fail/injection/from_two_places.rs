use ratchet::job;

use ratchet::JobContext;

#[job]
async fn send_email(#[inject] #[input] ctx: JobContext) {
    drop(ctx);
}

fn main() {}
