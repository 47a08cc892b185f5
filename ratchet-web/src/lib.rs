//! The dashboard and the admin API of Ratchet, as an [`axum::Router`].
//!
//! ```
//! # use ratchet_core::Ratchet;
//! # use ratchet_memory::MemoryStore;
//! use ratchet_web::{Access, Accent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
//! let ops = ratchet_web::router(&ratchet)
//!     .access(|request| match request.headers.get("x-authenticated-user") {
//!         Some(user) => Access::viewer(String::from_utf8_lossy(user.as_bytes())),
//!         None => Access::denied(),
//!     })
//!     .title("shop, production")
//!     .accent(Accent::Red)
//!     .build();
//! let app: axum::Router = axum::Router::new().nest("/ratchet", ops);
//! # drop(app); Ok(())
//! # }
//! ```
//!
//! # Pages
//!
//! Pages are rendered by the server and work without JavaScript. A script of a few hundred lines keeps them up to date
//! and adds shortcuts. A change is confirmed on a page that says in words what will happen. All links are relative, so
//! that the router works under any prefix.
//!
//! # Access
//!
//! Nothing is visible before [`Dashboard::access`] says so, except `/health`, which has no details. An [`Access`] has an
//! actor, capabilities and a scope. Responses have a strict content security policy, and requests of other sites that
//! change something are refused.

mod access;
mod act;
mod api;
mod arguments;
mod assets;
mod charts;
mod dashboard;
mod dispatch;
mod health;
mod history;
mod link;
mod live;
mod pages;
mod problem;
mod read;
mod request;
mod route;
mod text;
mod views;

pub use access::Access;
pub use dashboard::{Accent, Dashboard, router};

/// For the tests of this crate.
#[doc(hidden)]
pub mod __private {
    use ratchet_core::Capability;

    /// Returns the method, the path, the verb and the needed capability of every route.
    pub fn routes() -> Vec<(String, String, &'static str, Option<Capability>)> {
        let row = |route: &crate::route::Route| {
            let needs = match route.gate {
                crate::route::Gate::Open => None,
                crate::route::Gate::Needs(capability) => Some(capability),
            };
            (route.method.to_string(), route.path.clone(), route.verb, needs)
        };
        crate::route::routes().iter().map(row).collect()
    }
}
