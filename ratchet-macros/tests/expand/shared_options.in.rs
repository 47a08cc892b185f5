#[jobs(queue = "mail", max_retries = 3)]
impl Mailer {
    #![allow(clippy::unused_self)]

    #[job]
    async fn send(&self, #[job(default = Self::LIMIT)] limit: u32) {
        drop(limit);
    }

    #[job(queue = Self::URGENT, validate = Self::check)]
    async fn urgent(&self, to: String) {
        drop(to);
    }
}
