#[job]
pub async fn send_email(to: &str, tags: Option<&[u8]>) {
    deliver(to, tags).await;
}
