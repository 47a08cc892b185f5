use ratchet::job;

struct Mailer;

const _: Mailer = Mailer;

impl Mailer {
    #[job]
    async fn deliver(to: String) {
        drop(to);
    }
}

fn main() {}
