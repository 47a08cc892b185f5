impl Mailer {
    #![allow(clippy::unused_self)]
    #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
    async fn send(&self, limit: u32) {
        drop(limit);
    }
    #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
    async fn urgent(&self, to: String) {
        drop(to);
    }
}
/// Arguments of the [`Mailer::send()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct MailerSend {
    limit: u32,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __SELF: __ratchet::Injected<__ratchet::State<Mailer>> = __ratchet::injected::<
        __ratchet::State<Mailer>,
    >("self");
    const __LIMIT: __ratchet::Arg<u32> = __ratchet::arg::<u32>("limit", "u32")
        .default(|| __ratchet::Option::Some(Mailer::LIMIT));
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for MailerSend {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__LIMIT.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("mailer.send"),
                __ratchet::here!(),
            )
            .queue("mail")
            .max_retries(3)
            .args(Self::ARGS)
            .injections(&[__SELF.def()]);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__LIMIT, &self.limit);
        }
        fn encode_defaults(args: &mut __ratchet::Encoder) {
            args.put_default(__LIMIT);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { limit: args.take(__LIMIT)? })
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            async fn send(service: __ratchet::State<Mailer>, arg_1: u32) -> () {
                Mailer::send(&service, arg_1).await
            }
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(send(__SELF.inject(&ctx)?, self.limit)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for MailerSend {}
    impl __ratchet::CallbackJob for MailerSend {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < MailerSend > ()
    }
    __ratchet::constructor! {
        MailerSend(limit : u32) { limit }
    }
};
/// Arguments of the [`Mailer::urgent()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct MailerUrgent {
    to: String,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{queue as _, validate as _};
    const __SELF: __ratchet::Injected<__ratchet::State<Mailer>> = __ratchet::injected::<
        __ratchet::State<Mailer>,
    >("self");
    const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for MailerUrgent {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__TO.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("mailer.urgent"),
                __ratchet::here!(),
            )
            .queue(__ratchet::checked::name(Mailer::URGENT))
            .max_retries(3)
            .args(Self::ARGS)
            .injections(&[__SELF.def()]);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__TO, &self.to);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { to: args.take(__TO)? })
        }
        fn validate(&self) -> __ratchet::Validated {
            __ratchet::validated::<Self, _, _>(Mailer::check, self)
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            async fn urgent(service: __ratchet::State<Mailer>, arg_1: String) -> () {
                Mailer::urgent(&service, arg_1).await
            }
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(urgent(__SELF.inject(&ctx)?, self.to)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for MailerUrgent {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < MailerUrgent > ()
    }
    __ratchet::constructor! {
        MailerUrgent(to : impl __ratchet::Into < String >) { to :
        __ratchet::Into::into(to) }
    }
};
