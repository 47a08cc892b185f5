#[allow(clippy::unused_async)]
async fn tick() {}
/// Arguments of the [`tick()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Tick;
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Tick {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
            __ratchet::job_name!("tick"),
            __ratchet::here!(),
        );
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(__ratchet::run::<__FALLIBLE, (), _, _>(tick()))
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Tick {}
    impl __ratchet::CallbackJob for Tick {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Tick > ()
    }
};
