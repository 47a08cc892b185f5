//! Jobs in nested modules, in functions, from macros; the struct is as visible as the function.
#![deny(warnings, unreachable_pub, private_interfaces)]

use ratchet::Job;

mod outer {
    pub(crate) mod inner {
        use ratchet::job;

        #[derive(serde::Serialize, serde::Deserialize)]
        pub(crate) struct Money(pub(crate) u32);

        #[job]
        pub(crate) async fn pay(amount: Money) -> Money {
            amount
        }

        #[job]
        pub(super) async fn refund(amount: Money) {
            drop(amount);
        }

        #[job]
        async fn private(amount: Money) {
            drop(amount);
        }

        pub(crate) fn make() -> impl ratchet::Job {
            Private { amount: Money(1) }
        }
    }

    pub(crate) fn refund() -> impl ratchet::Job {
        inner::Refund { amount: inner::Money(5) }
    }
}

macro_rules! jobs {
    ($($name:ident: $ty:ty = $queue:literal, $key:literal;)*) => {
        $(
            #[ratchet::job(queue = $queue, business_key = $key)]
            async fn $name(value: $ty) -> $ty {
                value
            }
        )*
    };
}

jobs! {
    first: u32 = "a", "first-{value}";
    second: String = "b", "second-{value}";
}

macro_rules! fixed {
    ($name:ident) => {
        #[ratchet::job(business_key = "k-{id}", validate = check)]
        async fn $name(id: u32) {
            let _ = id;
        }
    };
}

fixed!(third);

fn check(_: &Third) -> Result<(), String> {
    Ok(())
}

#[test]
fn runs() {
    #[ratchet::job]
    async fn local(n: u32) {
        let _ = n;
    }

    let pay = outer::inner::Pay { amount: outer::inner::Money(5) };
    let _ = (pay, outer::inner::make(), outer::refund(), Local { n: 1 });
    assert_eq!(First::DEF.queue, "a");
    assert_eq!(Second { value: "x".into() }.keys().business.as_deref(), Some("second-x"));
    assert_eq!(Third { id: 5 }.keys().business.as_deref(), Some("k-5"));
}
