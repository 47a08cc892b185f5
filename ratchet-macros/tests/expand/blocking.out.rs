#[allow(clippy::needless_pass_by_value)]
fn shrink(images: State<Images>, id: u64) -> anyhow::Result<Vec<u8>> {
    images.shrink(id)
}
/// Arguments of the [`shrink()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Shrink {
    id: u64,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::blocking as _;
    const __IMAGES: __ratchet::Injected<State<Images>> = __ratchet::injected::<
        State<Images>,
    >("images");
    const __ID: __ratchet::Arg<u64> = __ratchet::arg::<u64>("id", "u64");
    const __FALLIBLE: bool = __ratchet::fallible!(anyhow::Result < Vec < u8 > >);
    #[automatically_derived]
    impl __ratchet::Job for Shrink {
        type Output = __ratchet::Output<anyhow::Result<Vec<u8>>, __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__ID.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("shrink"),
                __ratchet::here!(),
            )
            .blocking()
            .args(Self::ARGS)
            .injections(&[__IMAGES.def()]);
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__ID, &self.id);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { id: args.take(__ID)? })
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            let injected_0 = __IMAGES.inject(&ctx)?;
            __ratchet::Result::Ok(
                __ratchet::run_blocking::<
                    __FALLIBLE,
                    anyhow::Result<Vec<u8>>,
                    _,
                    _,
                >(move || shrink(injected_0, self.id)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Shrink {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Shrink > ()
    }
    __ratchet::constructor! {
        Shrink(id : u64) { id }
    }
};
