use ratchet::job;

struct NoJob {
    to: String,
}

#[job(implements = NoJob)]
async fn send_email(to: String) -> u64 {
    to.len() as u64
}

fn main() {}
