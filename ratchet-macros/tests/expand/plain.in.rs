/// Sends one e-mail.
#[job(queue = "mail", max_retries = 5, timeout = "30s")]
pub async fn send_email(
    #[inject] ctx: JobContext,
    /// Recipient address.
    to: String,
    subject: String,
) -> Result<(), MailError> {
    deliver(ctx, to, subject).await
}
