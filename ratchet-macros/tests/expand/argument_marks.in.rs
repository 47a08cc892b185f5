#[job]
async fn pay(
    #[job(secret)] card: String,
    /// In cents.
    #[job(default = 5)]
    amount: u32,
    #[job(default, secret)] note: String,
    mut retries: Vec<u8>,
) {
    retries.clear();
    drop((card, amount, note));
}
