/// Pays.
#[doc(hidden)]
#[doc = include_str!("pay.md")]
#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
pub async fn pay(cents: u32, currency: String) {
    drop((cents, currency));
}
/// Arguments of the [`pay()`] job.
///
/// Pays.
#[doc(hidden)]
#[doc = include_str!("pay.md")]
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub struct Pay {
    pub cents: u32,
    pub currency: String,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::derive as _;
    const __CENTS: __ratchet::Arg<u32> = __ratchet::arg::<u32>("cents", "u32")
        .default(|| __ratchet::Option::Some(7));
    const __CURRENCY: __ratchet::Arg<String> = __ratchet::arg::<
        String,
    >("currency", "String")
        .default(|| __ratchet::Option::Some(__ratchet::String::from("CHF")));
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Pay {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__CENTS.def(), __CURRENCY.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("pay"),
                __ratchet::here!(),
            )
            .args(Self::ARGS)
            .docs("Pays.");
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__CENTS, &self.cents);
            args.put(__CURRENCY, &self.currency);
        }
        fn encode_defaults(args: &mut __ratchet::Encoder) {
            args.put_default(__CENTS);
            args.put_default(__CURRENCY);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                cents: args.take(__CENTS)?,
                currency: args.take(__CURRENCY)?,
            })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(pay(self.cents, self.currency)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Pay {}
    impl __ratchet::CallbackJob for Pay {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Pay > ()
    }
    #[automatically_derived]
    impl __ratchet::Default for Pay {
        fn default() -> Self {
            Self {
                cents: 7,
                currency: __ratchet::String::from("CHF"),
            }
        }
    }
    __ratchet::constructor! {
        pub Pay(cents : u32, currency : impl __ratchet::Into < String >) { cents,
        currency : __ratchet::Into::into(currency) }
    }
};
