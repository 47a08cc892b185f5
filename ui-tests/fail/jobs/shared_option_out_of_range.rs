use ratchet::jobs;

struct Mailer;

#[jobs(max_retries = 5000)]
impl Mailer {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
