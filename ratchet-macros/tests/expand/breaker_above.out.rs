#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn pay(amount: u32) {
    let _ = amount;
}
/// Arguments of the [`pay()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Pay {
    amount: u32,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __AMOUNT: __ratchet::Arg<u32> = __ratchet::arg::<u32>("amount", "u32");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Pay {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__AMOUNT.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("pay"),
                __ratchet::here!(),
            )
            .breaker(
                __ratchet::BreakerDef::new("gateway")
                    .profile("api")
                    .failure_rate(50)
                    .window(20)
                    .min_calls(__ratchet::checked::min_calls_within(MIN, 20))
                    .open_for(__ratchet::Duration::from_secs(30))
                    .probes(2)
                    .ignore(
                        &[
                            __ratchet::ErrorMatcher::of::<NotFound>("NotFound"),
                            __ratchet::ErrorMatcher::of::<errors::Gone>("errors::Gone"),
                        ],
                    ),
            )
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__AMOUNT, &self.amount);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                amount: args.take(__AMOUNT)?,
            })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(pay(self.amount)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Pay {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Pay > ()
    }
    __ratchet::constructor! {
        Pay(amount : u32) { amount }
    }
};
