use ratchet::job;

#[job]
async fn send_email(to: String, #[inject] ctx: ratchet::JobContext);

fn main() {}
