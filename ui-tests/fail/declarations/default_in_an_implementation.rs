use ratchet::job;

mod api {
    use ratchet::job;

    #[job]
    pub async fn send_email(to: String, copies: u32) -> u64;
}

#[job(implements = api::SendEmail)]
async fn send_email(to: String, #[job(default)] copies: u32) -> u64 {
    to.len() as u64 * u64::from(copies)
}

fn main() {}
