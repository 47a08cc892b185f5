#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn pay(amount: u32) -> Result<u32, PayError> {
    Ok(amount)
}
/// Arguments of the [`pay()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Pay {
    amount: u32,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{on_success as _, on_failure as _, validate as _};
    const __AMOUNT: __ratchet::Arg<u32> = __ratchet::arg::<u32>("amount", "u32");
    const __FALLIBLE: bool = __ratchet::fallible!(Result < u32, PayError >);
    #[automatically_derived]
    impl __ratchet::Job for Pay {
        type Output = __ratchet::Output<Result<u32, PayError>, __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__AMOUNT.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("pay"),
                __ratchet::here!(),
            )
            .on_success(__ratchet::Callback::of::<receipts::SendReceipt>())
            .on_failure(__ratchet::Callback::of::<TellSupport>())
            .args(Self::ARGS);
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__AMOUNT, &self.amount);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                amount: args.take(__AMOUNT)?,
            })
        }
        fn validate(&self) -> __ratchet::Validated {
            __ratchet::validated::<Self, _, _>(checks::amount, self)
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    Result<u32, PayError>,
                    _,
                    _,
                >(pay(self.amount)),
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
