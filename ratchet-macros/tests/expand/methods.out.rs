impl Mailer {
    const LIMIT: u32 = 5;
    /// Sends.
    #[allow(clippy::needless_pass_by_value)]
    pub async fn send(&self, to: String, other: Self) -> Result<Self, MailError> {
        self.deliver(to, other).await
    }
    #[allow(clippy::needless_pass_by_value)]
    fn sweep(&self, days: u32) {
        self.remove(days);
    }
    #[allow(clippy::unused_async)]
    async fn count() -> u64 {
        0
    }
    fn helper(&self) {}
}
/// Arguments of the [`Mailer::send()`] job.
///
/// Sends.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub struct MailerSend {
    pub to: String,
    pub other: Mailer,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::queue as _;
    const __SELF: __ratchet::Injected<__ratchet::State<Mailer>> = __ratchet::injected::<
        __ratchet::State<Mailer>,
    >("self");
    const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String");
    const __OTHER: __ratchet::Arg<Mailer> = __ratchet::arg::<Mailer>("other", "Mailer");
    const __FALLIBLE: bool = __ratchet::fallible!(Result < Mailer, MailError >);
    #[automatically_derived]
    impl __ratchet::Job for MailerSend {
        type Output = __ratchet::Output<Result<Mailer, MailError>, __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__TO.def(), __OTHER.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("mailer.send"),
                __ratchet::here!(),
            )
            .queue("mail")
            .args(Self::ARGS)
            .injections(&[__SELF.def()])
            .docs("Sends.");
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__TO, &self.to);
            args.put(__OTHER, &self.other);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                to: args.take(__TO)?,
                other: args.take(__OTHER)?,
            })
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            async fn send(
                service: __ratchet::State<Mailer>,
                arg_1: String,
                arg_2: Mailer,
            ) -> Result<Mailer, MailError> {
                Mailer::send(&service, arg_1, arg_2).await
            }
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    Result<Mailer, MailError>,
                    _,
                    _,
                >(send(__SELF.inject(&ctx)?, self.to, self.other)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for MailerSend {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < MailerSend > ()
    }
    __ratchet::constructor! {
        pub MailerSend(to : impl __ratchet::Into < String >, other : Mailer) { to :
        __ratchet::Into::into(to), other }
    }
};
/// Arguments of the [`Mailer::sweep()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct MailerSweep {
    days: u32,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::blocking as _;
    const __SELF: __ratchet::Injected<__ratchet::State<Mailer>> = __ratchet::injected::<
        __ratchet::State<Mailer>,
    >("self");
    const __DAYS: __ratchet::Arg<u32> = __ratchet::arg::<u32>("days", "u32");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for MailerSweep {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__DAYS.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("mailer.sweep"),
                __ratchet::here!(),
            )
            .blocking()
            .args(Self::ARGS)
            .injections(&[__SELF.def()]);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__DAYS, &self.days);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { days: args.take(__DAYS)? })
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            let injected_0 = __SELF.inject(&ctx)?;
            __ratchet::Result::Ok(
                __ratchet::run_blocking::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(move || Mailer::sweep(&injected_0, self.days)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for MailerSweep {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < MailerSweep > ()
    }
    __ratchet::constructor! {
        MailerSweep(days : u32) { days }
    }
};
/// Arguments of the [`Mailer::count()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct MailerCount;
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __FALLIBLE: bool = __ratchet::fallible!(u64);
    #[automatically_derived]
    impl __ratchet::Job for MailerCount {
        type Output = __ratchet::Output<u64, __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
            __ratchet::job_name!("mailer.count"),
            __ratchet::here!(),
        );
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, u64, _, _>(Mailer::count()),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for MailerCount {}
    impl __ratchet::CallbackJob for MailerCount {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < MailerCount > ()
    }
};
