//! `#[jobs(…)]` sets the options that its methods share; `Self` in an option is the service.
use ratchet::{Job, jobs};

struct Mailer;

#[jobs(queue = "mail", max_retries = 7, backoff = fixed("1s"), derive(Debug))]
impl Mailer {
    #![allow(clippy::unused_self)]

    const URGENT: &'static str = "urgent";
    const LIMIT: u32 = 5;

    fn check(send: &MailerUrgent) -> Result<(), String> {
        if send.to.is_empty() { Err("no recipient".to_owned()) } else { Ok(()) }
    }

    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }

    #[job(queue = Self::URGENT, max_retries = 0, validate = Self::check)]
    async fn urgent(&self, to: String, #[job(default = Self::LIMIT)] limit: u32) {
        drop((to, limit));
    }
}

#[test]
fn runs() {
    assert_eq!((MailerSend::DEF.queue, MailerSend::DEF.max_retries), ("mail", 7));
    assert_eq!((MailerUrgent::DEF.queue, MailerUrgent::DEF.max_retries), ("urgent", 0));
    assert!(MailerUrgent::new("", 1).validate().is_err());
    assert_eq!(format!("{:?}", MailerSend::new("me")), "MailerSend { to: \"me\" }");
}
