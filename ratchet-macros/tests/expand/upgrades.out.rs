#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn send_email(to: String) {
    drop(to);
}
/// Arguments of the [`send_email()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct SendEmail {
    to: String,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{version as _, oldest as _, upgrade as _};
    const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for SendEmail {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__TO.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("send_email"),
                __ratchet::here!(),
            )
            .version(4)
            .upgrades_from(2)
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__TO, &self.to);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { to: args.take(__TO)? })
        }
        fn upgrade(
            version: __ratchet::u32,
            args: &mut __ratchet::Decoder<'_>,
        ) -> __ratchet::Upgraded<Self> {
            match version {
                0..=1 => __ratchet::too_old(version, 2),
                2 => __ratchet::upgraded::<_, Self, _, _>(from_v2, version, args),
                3 => __ratchet::upgraded::<_, Self, _, _>(older::from_v3, version, args),
                _ => __ratchet::Option::None,
            }
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(send_email(self.to)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for SendEmail {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < SendEmail > ()
    }
    __ratchet::constructor! {
        SendEmail(to : impl __ratchet::Into < String >) { to : __ratchet::Into::into(to)
        }
    }
};
