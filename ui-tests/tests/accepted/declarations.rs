//! Declarations without a body, their implementations, and arguments with former names.

mod api {
    use ratchet::job;

    /// Sends an email.
    #[job(queue = "mail", derive(Debug, Clone), strict)]
    pub async fn send_email(
        #[job(alias = "recipient", alias = "mail_to")] to: String,
        copies: Option<u32>,
    ) -> u64;

    #[job]
    pub async fn count(#[input] sent: u64);

    #[job]
    pub(crate) async fn empty();
}

struct Service;

#[ratchet::jobs]
impl Service {
    #[job(implements = api::Count)]
    async fn count(&self, #[input] sent: u64) {
        let _ = sent;
    }
}

use api::SendEmail;
use ratchet::definition::{Handler, Registration};
use ratchet::{Job, job};

#[job(implements = SendEmail)]
async fn send_email(copies: Option<u32>, to: String) -> Result<u64, std::io::Error> {
    Ok(to.len() as u64 * u64::from(copies.unwrap_or(1)))
}

#[job(implements = api::Empty, blocking, struct_name = DoesNothing)]
fn empty() {}

#[test]
fn runs() {
    const _: [Registration; 5] = [
        SendEmail::JOB,
        SendEmailHandler::JOB,
        api::Count::JOB,
        ServiceCountHandler::JOB,
        DoesNothing::JOB,
    ];
    assert_eq!(SendEmail::DEF.queue, "mail");
    assert_eq!(SendEmailHandler::DEF.name, SendEmail::DEF.name);
    assert_eq!(SendEmail::ARGS[0].aliases, ["recipient", "mail_to"]);
    assert!(DoesNothing::DEF.blocking && !api::Empty::DEF.blocking);
}
