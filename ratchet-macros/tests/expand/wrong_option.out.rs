/// The struct stands, the implementation is a dummy, the error follows.
#[allow(clippy::needless_pass_by_value)]
pub async fn send_email(to: String) -> Result<u32, MailError> {
    deliver(to).await
}
/// Arguments of the [`send_email()`] job.
///
/// The struct stands, the implementation is a dummy, the error follows.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub struct SendEmail {
    pub to: String,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::queu as _;
    const __FALLIBLE: bool = __ratchet::fallible!(Result < u32, MailError >);
    #[automatically_derived]
    impl __ratchet::Job for SendEmail {
        type Output = __ratchet::Output<Result<u32, MailError>, __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
            "broken",
            __ratchet::here!(),
        );
        fn encode(&self, _: &mut __ratchet::Encoder) {
            __ratchet::broken()
        }
        fn decode(_: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::broken()
        }
        fn run(self, _: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::broken()
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for SendEmail {}
    impl __ratchet::CallbackJob for SendEmail {}
    __ratchet::constructor! {
        pub SendEmail(to : impl __ratchet::Into < String >) { to :
        __ratchet::Into::into(to) }
    }
};
::core::compile_error! {
    "unknown `#[job]` option `queu`; did you mean `queue`?"
}
