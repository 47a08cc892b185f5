#[allow(clippy::unused_async)]
async fn at_once() {}
/// Arguments of the [`at_once()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct AtOnce;
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::backoff as _;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for AtOnce {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("at_once"),
                __ratchet::here!(),
            )
            .backoff(__ratchet::Backoff::none());
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(at_once()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for AtOnce {}
    impl __ratchet::CallbackJob for AtOnce {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < AtOnce > ()
    }
};
#[allow(clippy::unused_async)]
async fn steady() {}
/// Arguments of the [`steady()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Steady;
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::backoff as _;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Steady {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("steady"),
                __ratchet::here!(),
            )
            .backoff(__ratchet::Backoff::fixed(__ratchet::Duration::from_millis(500)));
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(steady()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Steady {}
    impl __ratchet::CallbackJob for Steady {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Steady > ()
    }
};
#[allow(clippy::unused_async)]
async fn growing() {}
/// Arguments of the [`growing()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Growing;
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::backoff as _;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Growing {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("growing"),
                __ratchet::here!(),
            )
            .backoff(
                __ratchet::Backoff::linear(
                        __ratchet::Duration::from_secs(5),
                        __ratchet::Duration::from_secs(60),
                    )
                    .jitter(__ratchet::Jitter::None),
            );
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(growing()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Growing {}
    impl __ratchet::CallbackJob for Growing {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Growing > ()
    }
};
#[allow(clippy::unused_async)]
async fn fast() {}
/// Arguments of the [`fast()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Fast;
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::backoff as _;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Fast {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("fast"),
                __ratchet::here!(),
            )
            .backoff(
                __ratchet::Backoff::exponential(
                        __ratchet::Duration::from_secs(1),
                        __ratchet::Duration::from_secs(5400),
                    )
                    .factor(3.0)
                    .jitter(__ratchet::Jitter::Full),
            );
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(fast()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Fast {}
    impl __ratchet::CallbackJob for Fast {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Fast > ()
    }
};
#[allow(clippy::unused_async)]
async fn constant() {}
/// Arguments of the [`constant()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Constant;
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::backoff as _;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Constant {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("constant"),
                __ratchet::here!(),
            )
            .backoff(POLICY);
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(constant()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Constant {}
    impl __ratchet::CallbackJob for Constant {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Constant > ()
    }
};
