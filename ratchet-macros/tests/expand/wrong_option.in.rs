/// The struct stands, the implementation is a dummy, the error follows.
#[job(queu = "mail")]
pub async fn send_email(to: String) -> Result<u32, MailError> {
    deliver(to).await
}
