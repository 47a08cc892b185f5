use ratchet::job;

use ratchet::JobContext;

#[job]
async fn send_email(#[injet] ctx: JobContext) {
    drop(ctx);
}

fn main() {}
