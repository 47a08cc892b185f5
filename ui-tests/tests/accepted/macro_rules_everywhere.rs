//! Attributes in a `macro_rules!` get their parts in invisible groups and with other hygiene.

use ratchet::{do_not_retry, job, jobs};

macro_rules! error {
    ($name:ident) => {
        #[do_not_retry]
        #[derive(Debug, thiserror::Error)]
        #[error("x")]
        pub struct $name;
    };
}

error!(Gone);

macro_rules! task {
    ($name:ident, $wait:literal, $factor:literal, $max:literal, $tag:literal) => {
        #[job(backoff = exponential($wait, factor = $factor, max = $max), tags($tag, "b"))]
        async fn $name(to: String) -> Result<(), Gone> {
            drop(to);
            Err(Gone)
        }
    };
}

task!(deliver, "1s", 3.0, "1m", "a");

pub struct Shop;

macro_rules! service {
    ($service:ty) => {
        #[jobs]
        impl $service {
            #[job]
            async fn charge(&self, cents: u64) {
                let _ = cents;
            }
        }
    };
}

service!(Shop);

pub mod facade {
    pub use ratchet;

    macro_rules! task {
        ($name:ident) => {
            #[ratchet::job(crate = $crate::macro_rules_everywhere::facade::ratchet)]
            async fn $name(to: String) {
                drop(to);
            }
        };
    }

    task!(pack);

    #[ratchet::job(crate = self::ratchet)]
    async fn wrap(to: String) {
        drop(to);
    }
}

#[test]
fn runs() {
    let _ = (Deliver { to: String::new() }, ShopCharge { cents: 1 });
}
