use ratchet::jobs;

struct Mailer<T>(T);

#[jobs]
impl<T> Mailer<T> {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

fn main() {}
