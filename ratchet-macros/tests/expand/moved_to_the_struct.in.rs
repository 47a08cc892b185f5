/// Pays.
#[job(derive(Default))]
#[derive(Debug, Clone)]
#[non_exhaustive]
#[doc(hidden)]
#[doc = include_str!("pay.md")]
pub async fn pay(#[job(default = 7)] cents: u32, #[job(default = "CHF")] currency: String) {
    drop((cents, currency));
}
