use ratchet::jobs;

struct Mailer;

#[jobs(cron = "0 3 * * *")]
impl Mailer {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
