#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
pub(crate) async fn send_email(to: String) {
    drop(to);
}
/// Arguments of the [`send_email()`] job.
#[derive(Debug, Clone)]
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub(crate) struct EmailJob {
    pub(crate) to: String,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{
        name as _, alias as _, alias as _, version as _, struct_name as _, derive as _,
    };
    const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for EmailJob {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__TO.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                "shop.mail",
                __ratchet::here!(),
            )
            .aliases(&[__ratchet::job_name!("mail"), "mail", "old.mail"])
            .version(2)
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__TO, &self.to);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { to: args.take(__TO)? })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(send_email(self.to)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for EmailJob {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < EmailJob > ()
    }
    __ratchet::constructor! {
        pub (crate) EmailJob(to : impl __ratchet::Into < String >) { to :
        __ratchet::Into::into(to) }
    }
};
