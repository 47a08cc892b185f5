use ratchet::job;

pub struct Mail {
    pub subject: String,
}

#[job(implements = Mail)]
async fn send_email(to: String) -> u64 {
    to.len() as u64
}

fn main() {}
