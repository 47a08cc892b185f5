/// Sends one e-mail.
#[allow(clippy::needless_pass_by_value)]
pub async fn send_email(
    ctx: JobContext,
    to: String,
    subject: String,
) -> Result<(), MailError> {
    deliver(ctx, to, subject).await
}
/// Arguments of the [`send_email()`] job.
///
/// Sends one e-mail.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub struct SendEmail {
    /// Recipient address.
    pub to: String,
    pub subject: String,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{queue as _, max_retries as _, timeout as _};
    const __CTX: __ratchet::Injected<JobContext> = __ratchet::injected::<
        JobContext,
    >("ctx");
    const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String")
        .docs("Recipient address.");
    const __SUBJECT: __ratchet::Arg<String> = __ratchet::arg::<
        String,
    >("subject", "String");
    const __FALLIBLE: bool = __ratchet::fallible!(Result < (), MailError >);
    #[automatically_derived]
    impl __ratchet::Job for SendEmail {
        type Output = __ratchet::Output<Result<(), MailError>, __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__TO.def(), __SUBJECT.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("send_email"),
                __ratchet::here!(),
            )
            .queue("mail")
            .max_retries(5)
            .timeout(__ratchet::Duration::from_secs(30))
            .args(Self::ARGS)
            .injections(&[__CTX.def()])
            .docs("Sends one e-mail.");
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__TO, &self.to);
            args.put(__SUBJECT, &self.subject);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                to: args.take(__TO)?,
                subject: args.take(__SUBJECT)?,
            })
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    Result<(), MailError>,
                    _,
                    _,
                >(send_email(__CTX.inject(&ctx)?, self.to, self.subject)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for SendEmail {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < SendEmail > ()
    }
    __ratchet::constructor! {
        pub SendEmail(to : impl __ratchet::Into < String >, subject : impl
        __ratchet::Into < String >) { to : __ratchet::Into::into(to), subject :
        __ratchet::Into::into(subject) }
    }
};
