struct Mailer;

#[ratchet::jobs]
impl Mailer {
    #[job]
    async fn send_email(&self, to: String);
}

fn main() {}
