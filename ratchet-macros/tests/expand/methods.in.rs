#[jobs]
impl Mailer {
    const LIMIT: u32 = 5;

    /// Sends.
    #[job(queue = "mail")]
    pub async fn send(&self, to: String, other: Self) -> Result<Self, MailError> {
        self.deliver(to, other).await
    }

    #[job(blocking)]
    fn sweep(&self, days: u32) {
        self.remove(days);
    }

    #[job]
    async fn count() -> u64 {
        0
    }

    fn helper(&self) {}
}
