/// Old.
#[deprecated = "use `pay`"]
#[expect(unused_variables, reason = "kept for the signature")]
#[inline]
#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn charge(Amount: u32) {}
/// Arguments of the [`charge()`] job.
///
/// Old.
#[deprecated = "use `pay`"]
#[allow(unused_variables)]
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Charge {
    Amount: u32,
}
#[allow(unused_qualifications, deprecated)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __AMOUNT: __ratchet::Arg<u32> = __ratchet::arg::<u32>("Amount", "u32");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Charge {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__AMOUNT.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("charge"),
                __ratchet::here!(),
            )
            .args(Self::ARGS)
            .docs("Old.");
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__AMOUNT, &self.Amount);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                Amount: args.take(__AMOUNT)?,
            })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(charge(self.Amount)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Charge {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Charge > ()
    }
    __ratchet::constructor! {
        Charge(Amount : u32) { Amount }
    }
};
