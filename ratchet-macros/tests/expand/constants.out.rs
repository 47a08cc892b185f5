#[allow(clippy::unused_async)]
async fn tuned() {}
/// Arguments of the [`tuned()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Tuned;
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{
        queue as _, max_retries as _, timeout as _, priority as _, tags as _,
    };
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Tuned {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("tuned"),
                __ratchet::here!(),
            )
            .queue(__ratchet::checked::name(QUEUE))
            .priority(Priority::High)
            .max_retries(__ratchet::checked::max_retries(limits::RETRIES))
            .timeout(__ratchet::checked::timeout(Duration::from_secs(5)))
            .tags(&[TAG, "b"]);
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(tuned()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Tuned {}
    impl __ratchet::CallbackJob for Tuned {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Tuned > ()
    }
};
