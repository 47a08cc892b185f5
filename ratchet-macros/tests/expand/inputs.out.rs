/// Takes the outputs of several steps.
#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
pub async fn join(left: Left, right: Right, rest: Vec<Rest>, first: u32) {}
/// Arguments of the [`join()`] job.
///
/// Takes the outputs of several steps.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
pub struct Join;
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __LEFT: __ratchet::Input<Left> = __ratchet::input::<Left>("left")
        .by_argument();
    const __RIGHT: __ratchet::Input<Right> = __ratchet::input::<Right>("right")
        .by_argument();
    const __REST: __ratchet::Input<Vec<Rest>> = __ratchet::input_all::<Vec<Rest>>("rest")
        .by_argument();
    const __FIRST: __ratchet::Input<u32> = __ratchet::input::<u32>("first")
        .from("first");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Join {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("join"),
                __ratchet::here!(),
            )
            .inputs(&[__LEFT.def(), __RIGHT.def(), __REST.def(), __FIRST.def()])
            .docs("Takes the outputs of several steps.");
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(
                    join(
                        __LEFT.take(&ctx)?,
                        __RIGHT.take(&ctx)?,
                        __REST.take(&ctx)?,
                        __FIRST.take(&ctx)?,
                    ),
                ),
            )
        }
    }
    #[allow(dead_code, private_interfaces)]
    impl Join {
        /// The argument `left`, for the `input` of a workflow.
        pub const INPUT_LEFT: __ratchet::InputRef<Self, Left> = __LEFT.reference();
        /// The argument `right`, for the `input` of a workflow.
        pub const INPUT_RIGHT: __ratchet::InputRef<Self, Right> = __RIGHT.reference();
        /// The argument `rest`, for the `input_all` of a workflow.
        pub const INPUT_REST: __ratchet::InputListRef<Self, Vec<Rest>> = __REST
            .list_reference();
        /// The argument `first`, for the `input` of a workflow.
        pub const INPUT_FIRST: __ratchet::InputRef<Self, u32> = __FIRST.reference();
    }
    __ratchet::submit! {
        __ratchet::Registration::of:: < Join > ()
    }
};
#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn merge(parts: Vec<Part>) -> u32 {
    0
}
/// Arguments of the [`merge()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Merge;
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __PARTS: __ratchet::Input<Vec<Part>> = __ratchet::input_all::<
        Vec<Part>,
    >("parts");
    const __FALLIBLE: bool = __ratchet::fallible!(u32);
    #[automatically_derived]
    impl __ratchet::Job for Merge {
        type Output = __ratchet::Output<u32, __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("merge"),
                __ratchet::here!(),
            )
            .inputs(&[__PARTS.def()]);
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, u32, _, _>(merge(__PARTS.take(&ctx)?)),
            )
        }
    }
    impl __ratchet::StepAfter<Part> for Merge {}
    #[allow(dead_code, private_interfaces)]
    impl Merge {
        /// The argument `parts`, for the `input_all` of a workflow.
        const INPUT_PARTS: __ratchet::InputListRef<Self, Vec<Part>> = __PARTS
            .list_reference();
    }
    __ratchet::submit! {
        __ratchet::Registration::of:: < Merge > ()
    }
};
#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn alias(parts: Parts) -> u32 {
    0
}
/// Arguments of the [`alias()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Alias;
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __PARTS: __ratchet::Input<Parts> = __ratchet::input_all::<Parts>("parts");
    const __FALLIBLE: bool = __ratchet::fallible!(u32);
    #[automatically_derived]
    impl __ratchet::Job for Alias {
        type Output = __ratchet::Output<u32, __FALLIBLE>;
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("alias"),
                __ratchet::here!(),
            )
            .inputs(&[__PARTS.def()]);
        const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        fn encode(&self, _args: &mut __ratchet::Encoder) {}
        fn decode(_args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {})
        }
        fn run(self, ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<__FALLIBLE, u32, _, _>(alias(__PARTS.take(&ctx)?)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Alias
    where
        Parts: __ratchet::ListOf<__Parent>,
    {}
    #[allow(dead_code, private_interfaces)]
    impl Alias {
        /// The argument `parts`, for the `input_all` of a workflow.
        const INPUT_PARTS: __ratchet::InputListRef<Self, Parts> = __PARTS
            .list_reference();
    }
    __ratchet::submit! {
        __ratchet::Registration::of:: < Alias > ()
    }
};
