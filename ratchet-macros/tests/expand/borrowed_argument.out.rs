#[allow(clippy::needless_pass_by_value)]
pub async fn send_email(to: &str, tags: Option<&[u8]>) {
    deliver(to, tags).await;
}
/// Arguments of the [`send_email()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub struct SendEmail {
    pub to: String,
    pub tags: Option<Vec<u8>>,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for SendEmail {
        type Output = __ratchet::Output<(), __FALLIBLE>;
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
        pub SendEmail(to : impl __ratchet::Into < String >, tags : Option < Vec < u8 > >)
        { to : __ratchet::Into::into(to), tags }
    }
};
::core::compile_error! {
    "job argument `to` cannot borrow: it is stored and read back later by another process; take `String` instead"
}
::core::compile_error! {
    "job argument `tags` cannot borrow: it is stored and read back later by another process; take `Vec<u8>` instead"
}
