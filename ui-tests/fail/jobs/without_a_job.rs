use ratchet::jobs;

struct Mailer;

#[jobs]
impl Mailer {
    pub async fn send(&self) {}
}

fn main() {}
