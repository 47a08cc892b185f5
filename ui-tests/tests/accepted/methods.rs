//! Methods that are jobs, beside items that are not.
#![deny(warnings, missing_docs)]

use ratchet::{Job, circuit_breaker, jobs};

mod service {
    /// A service.
    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    pub struct Mailer {
        /// Where it sends to.
        pub url: String,
    }
}

/// What is sent.
pub type Body = String;

#[circuit_breaker(service = "mail")]
#[jobs]
impl service::Mailer {
    /// Not a job.
    pub const LIMIT: u32 = 5;

    /// Sends.
    #[job(queue = "mail", business_key = "mail-{to}")]
    pub async fn send(&self, to: String, body: Body) -> Result<usize, std::io::Error> {
        let _ = (&self.url, to);
        Ok(body.len())
    }

    /// Speaks of itself.
    #[job]
    #[circuit_breaker(service = "other")]
    pub async fn copy(&self, other: Self, #[inject] ctx: ratchet::JobContext) -> Option<Self> {
        let _ = ctx;
        Some(other)
    }

    /// Without a receiver.
    #[job]
    pub async fn sweep(days: u32) -> u32 {
        days
    }

    /// Not a job either.
    pub fn helper(&self) -> &str {
        &self.url
    }
}

#[test]
fn runs() {
    let send = MailerSend { to: "a".into(), body: "b".into() };
    assert_eq!(send.keys().business.as_deref(), Some("mail-a"));
    assert!(MailerSend::DEF.name.ends_with(".mailer.send"), "{}", MailerSend::DEF.name);
    assert_eq!(MailerSend::DEF.breaker.map(|breaker| breaker.service), Some("mail"));
    assert_eq!(MailerCopy::DEF.breaker.map(|breaker| breaker.service), Some("other"));
    assert_eq!(MailerSend::DEF.injections.len(), 1);
    assert_eq!(MailerSweep::DEF.injections.len(), 0);
    let _ = (service::Mailer::LIMIT, service::Mailer { url: String::new() }.helper());
    let _ = MailerCopy { other: service::Mailer { url: String::new() } };
}
