#[job(name = "shop.mail", alias = "mail", alias = "old.mail", version = 2, struct_name = EmailJob, derive(Debug, Clone))]
pub(crate) async fn send_email(to: String) {
    drop(to);
}
