#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn pay(card: String, amount: u32, note: String, mut retries: Vec<u8>) {
    retries.clear();
    drop((card, amount, note));
}
/// Arguments of the [`pay()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Pay {
    card: String,
    /// In cents.
    amount: u32,
    note: String,
    retries: Vec<u8>,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __CARD: __ratchet::Arg<String> = __ratchet::arg::<String>("card", "String")
        .secret();
    const __AMOUNT: __ratchet::Arg<u32> = __ratchet::arg::<u32>("amount", "u32")
        .docs("In cents.")
        .default(|| __ratchet::Option::Some(5));
    const __NOTE: __ratchet::Arg<String> = __ratchet::arg::<String>("note", "String")
        .secret()
        .default(__ratchet::default_value::<String>);
    const __RETRIES: __ratchet::Arg<Vec<u8>> = __ratchet::arg::<
        Vec<u8>,
    >("retries", "Vec<u8>");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Pay {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[
            __CARD.def(),
            __AMOUNT.def(),
            __NOTE.def(),
            __RETRIES.def(),
        ];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("pay"),
                __ratchet::here!(),
            )
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__CARD, &self.card);
            args.put(__AMOUNT, &self.amount);
            args.put(__NOTE, &self.note);
            args.put(__RETRIES, &self.retries);
        }
        fn encode_defaults(args: &mut __ratchet::Encoder) {
            args.put_default(__AMOUNT);
            args.put_default(__NOTE);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                card: args.take(__CARD)?,
                amount: args.take(__AMOUNT)?,
                note: args.take(__NOTE)?,
                retries: args.take(__RETRIES)?,
            })
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(pay(self.card, self.amount, self.note, self.retries)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Pay {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Pay > ()
    }
    __ratchet::constructor! {
        Pay(card : impl __ratchet::Into < String >, amount : u32, note : impl
        __ratchet::Into < String >, retries : Vec < u8 >) { card :
        __ratchet::Into::into(card), amount, note : __ratchet::Into::into(note), retries
        }
    }
};
