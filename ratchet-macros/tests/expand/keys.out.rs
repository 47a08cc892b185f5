#[allow(clippy::unused_async, clippy::needless_pass_by_value)]
async fn ship(order: Order, r#type: String, pair: (u8, u8), customer: u32) {
    drop((order, r#type, pair, customer));
}
/// Arguments of the [`ship()`] job.
#[must_use = "a job does nothing until it is enqueued"]
#[allow(missing_docs)]
struct Ship {
    order: Order,
    r#type: String,
    pair: (u8, u8),
    customer: u32,
}
#[allow(unused_qualifications, unexpected_cfgs)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    #[cfg(rust_analyzer)]
    use __ratchet::options::job::{
        business_key as _, idempotency_key as _, concurrency_key as _,
        concurrency_limit as _,
    };
    const __ORDER: __ratchet::Arg<Order> = __ratchet::arg::<Order>("order", "Order");
    const __TYPE: __ratchet::Arg<String> = __ratchet::arg::<String>("type", "String");
    const __PAIR: __ratchet::Arg<(u8, u8)> = __ratchet::arg::<
        (u8, u8),
    >("pair", "(u8, u8)");
    const __CUSTOMER: __ratchet::Arg<u32> = __ratchet::arg::<u32>("customer", "u32");
    const __FALLIBLE: bool = false;
    #[automatically_derived]
    impl __ratchet::Job for Ship {
        type Output = __ratchet::Output<(), __FALLIBLE>;
        const ARGS: &'static [__ratchet::ArgDef] = &[
            __ORDER.def(),
            __TYPE.def(),
            __PAIR.def(),
            __CUSTOMER.def(),
        ];
        const DEF: __ratchet::JobDef = __ratchet::JobDef::new(
                __ratchet::job_name!("ship"),
                __ratchet::here!(),
            )
            .business_key("{{order}}-{order.id}")
            .idempotency_key("{r#type}/{pair.0}")
            .concurrency_key("customer-{customer}")
            .concurrency_limit(3)
            .args(Self::ARGS);
        fn encode(&self, args: &mut __ratchet::Encoder) {
            args.put(__ORDER, &self.order);
            args.put(__TYPE, &self.r#type);
            args.put(__PAIR, &self.pair);
            args.put(__CUSTOMER, &self.customer);
        }
        fn decode(args: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self {
                order: args.take(__ORDER)?,
                r#type: args.take(__TYPE)?,
                pair: args.take(__PAIR)?,
                customer: args.take(__CUSTOMER)?,
            })
        }
        fn keys(&self) -> __ratchet::Keys {
            __ratchet::Keys::new()
                .business(
                    __ratchet::format_args!(
                        "{{order}}-{}", { use __ratchet::KeyField as _;
                        __ratchet::key_part(self.order.id.key_field()) }
                    ),
                )
                .idempotency(
                    __ratchet::format_args!(
                        "{}/{}", { use __ratchet::KeyField as _; __ratchet::key_part(self
                        .r#type.key_field()) }, { use __ratchet::KeyField as _;
                        __ratchet::key_part(self.pair.0.key_field()) }
                    ),
                )
                .concurrency(
                    __ratchet::format_args!(
                        "customer-{}", { use __ratchet::KeyField as _;
                        __ratchet::key_part(self.customer.key_field()) }
                    ),
                )
        }
        fn run(self, _ctx: __ratchet::JobContext) -> __ratchet::Run {
            __ratchet::Result::Ok(
                __ratchet::run::<
                    __FALLIBLE,
                    (),
                    _,
                    _,
                >(ship(self.order, self.r#type, self.pair, self.customer)),
            )
        }
    }
    impl<__Parent> __ratchet::StepAfter<__Parent> for Ship {}
    __ratchet::submit! {
        __ratchet::Registration::of:: < Ship > ()
    }
    __ratchet::constructor! {
        Ship(order : Order, r#type : impl __ratchet::Into < String >, pair : (u8, u8),
        customer : u32) { order, r#type : __ratchet::Into::into(r#type), pair, customer }
    }
};
