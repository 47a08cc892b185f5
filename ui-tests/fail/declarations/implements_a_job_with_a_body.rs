use ratchet::job;

mod api {
    use ratchet::job;

    #[job]
    pub async fn send_email(to: String) -> usize {
        to.len()
    }
}

#[job(implements = api::SendEmail)]
async fn send_email(to: String) -> usize {
    to.len()
}

fn main() {}
