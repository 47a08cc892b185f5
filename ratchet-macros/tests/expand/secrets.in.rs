#[job(derive(Debug, Clone))]
async fn login(user: String, #[job(secret)] password: String, code: Option<ratchet::security::Secret<u32>>) {}
