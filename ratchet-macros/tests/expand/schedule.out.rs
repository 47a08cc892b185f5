/// Runs at night.
#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn report(day: Option<u32>) {
    let _ = day;
}
/// Arguments of the [`report()`] job.
///
/// Runs at night.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Report {
    day: Option<u32>,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{
        cron as _, tz as _, soft_timeout as _, priority as _, panic as _,
    };
    const __DAY: __ratchet::Arg<Option<u32>> = __ratchet::arg::<
        Option<u32>,
    >("day", "Option<u32>")
        .default(__ratchet::default_value::<Option<u32>>);
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Report {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__DAY.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("report"),
                __ratchet::here!(),
            )
            .priority(__ratchet::Priority::Low)
            .soft_timeout(__ratchet::Duration::from_secs(600))
            .cron(__ratchet::CronDef::new("0 3 * * MON-FRI").zone("Europe/Berlin"))
            .panic(__ratchet::PanicPolicy::Dlq)
            .args(Self::ARGS)
            .docs("Runs at night.");
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__DAY, &self.day);
        }
        fn encode_defaults(args: &mut __ratchet::Encoder) {
            args.put_default(__DAY);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { day: args.take(__DAY)? })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(report(self.day)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Report {}
    impl __ratchet::CallbackJob for Report {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Report > ()
    }
    __ratchet::constructor! {
        Report(day : Option < u32 >) { day }
    }
};
