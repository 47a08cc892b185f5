#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn pay(cents: u32) {
    drop(cents);
}
/// Arguments of the [`pay()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Pay {
    cents: u32,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __CENTS: __ratchet::Arg<u32> = __ratchet::arg::<u32>("cents", "u32");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Pay {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__CENTS.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("pay"),
                __ratchet::here!(),
            )
            .breaker(
                __ratchet::BreakerDef::new("bank")
                    .window(__ratchet::checked::window(WINDOW))
                    .min_calls(__ratchet::checked::min_calls_within(5, WINDOW))
                    .ignore(
                        &[
                            __ratchet::ErrorMatcher {
                                name: "PayError::Declined",
                                matches: |error| {
                                    __ratchet::find_error::<PayError>(error)
                                        .is_some_and(|error| {
                                            __ratchet::matches!(error, PayError::Declined { .. })
                                        })
                                },
                            },
                            __ratchet::ErrorMatcher::of::<io::Error>("io::Error"),
                        ],
                    ),
            )
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__CENTS, &self.cents);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { cents: args.take(__CENTS)? })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(pay(self.cents)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Pay {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Pay > ()
    }
    __ratchet::constructor! {
        Pay(cents : u32) { cents }
    }
};
