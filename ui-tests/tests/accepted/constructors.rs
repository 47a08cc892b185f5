//! `new` takes text as `impl Into<String>`; derives may stand below `#[job]`; a derived `Default` uses the defaults.
#![deny(warnings)]
use ratchet::job;

#[job]
#[derive(Debug, Clone, PartialEq)]
pub async fn send_email(to: String, subject: String, retries: u32) {
    drop((to, subject, retries));
}

#[job(derive(Debug, Default))]
#[non_exhaustive]
pub async fn pay(
    #[job(default = 7)] cents: u32,
    #[job(default = "CHF")] currency: String,
    note: Option<String>,
) {
    drop((cents, currency, note));
}

#[test]
fn runs() {
    let email = SendEmail::new("me@example.org", String::from("hello"), 3);
    assert_eq!(
        email.clone(),
        SendEmail { to: "me@example.org".into(), subject: "hello".into(), retries: 3 }
    );
    let pay = Pay::default();
    assert_eq!((pay.cents, pay.currency.as_str(), pay.note), (7, "CHF", None));
}
