#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn reindex(full: bool) {
    let _ = full;
}
/// Arguments of the [`reindex()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Reindex {
    full: bool,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::single_instance as _;
    const __FULL: __ratchet::Arg<bool> = __ratchet::arg::<bool>("full", "bool");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Reindex {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[__FULL.def()];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("reindex"),
                __ratchet::here!(),
            )
            .concurrency_limit(1)
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__FULL, &self.full);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { full: args.take(__FULL)? })
        }
        fn keys(&self) -> __ratchet::Keys {
            __ratchet::Keys::new()
                .concurrency(__ratchet::format_args!("{}", Self::DEF.instance_key()))
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, (), _, _>(reindex(self.full)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Reindex {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Reindex > ()
    }
    __ratchet::constructor! {
        Reindex(full : bool) { full }
    }
};
