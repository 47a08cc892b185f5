//! [`Dashboard`]: builds the router.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::http::request::Parts;
use axum::routing::any;
use ratchet_core::Ratchet;

use crate::access::Access;
use crate::api::Repeats;
use crate::live::Ticker;
use crate::{dispatch, route};

type AccessFn = dyn Fn(&Parts) -> Access + Send + Sync;

/// Builds the dashboard; see [`router`].
#[must_use = "the dashboard is not served before `build` returns its router"]
pub struct Dashboard {
    app: App,
}

/// What every request shares.
pub(crate) struct App {
    pub(crate) ratchet: Ratchet,
    pub(crate) access: Option<Box<AccessFn>>,
    pub(crate) title: String,
    pub(crate) accent: Accent,
    pub(crate) trace_link: Option<String>,
    pub(crate) log_link: Option<String>,
    pub(crate) read_only: bool,
    pub(crate) program: String,
    pub(crate) ticker: Ticker,
    pub(crate) repeats: Repeats,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("title", &self.title).finish_non_exhaustive()
    }
}

impl fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dashboard").field("app", &self.app).finish()
    }
}

/// The color beside the title, which distinguishes environments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accent {
    /// Orange.
    #[default]
    Orange,
    /// Red, for example for production.
    Red,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Violet.
    Violet,
}

impl Accent {
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Orange => "accent-orange",
            Self::Red => "accent-red",
            Self::Green => "accent-green",
            Self::Blue => "accent-blue",
            Self::Violet => "accent-violet",
        }
    }
}

/// Creates the dashboard of a runtime: pages, `/api/v1`, `/live`, `/health` and `/metrics`, as an [`axum::Router`].
///
/// Without [`Dashboard::access`], every page is denied, except `/health`. All links are relative, so that the router
/// works at `/`, nested at any path, and behind a proxy that removes a prefix.
///
/// ```
/// # use ratchet_core::Ratchet;
/// # use ratchet_memory::MemoryStore;
/// use ratchet_web::Access;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// #[derive(Clone)]
/// struct User { email: String }
///
/// let ops = ratchet_web::router(&ratchet)
///     // A middleware of the application has checked the session and added the user to the request.
///     .access(|request| match request.extensions.get::<User>() {
///         Some(user) => Access::operator(&user.email),
///         None => Access::denied(),
///     })
///     .title("shop, production")
///     .build();
/// let app: axum::Router = axum::Router::new().nest("/ratchet", ops);
/// # drop(app); Ok(())
/// # }
/// ```
pub fn router(ratchet: &Ratchet) -> Dashboard {
    Dashboard {
        app: App {
            ratchet: ratchet.clone(),
            access: None,
            title: String::new(),
            accent: Accent::default(),
            trace_link: None,
            log_link: None,
            read_only: false,
            program: "ratchet".to_owned(),
            ticker: Ticker::default(),
            repeats: Repeats::default(),
        },
    }
}

impl Dashboard {
    /// Sets the function that returns the [`Access`] of a request.
    ///
    /// The function is called for every request and must not block. To look up a session in a database, use a
    /// middleware that adds the user to the extensions of the request, and read the extension here.
    pub fn access(mut self, access: impl Fn(&Parts) -> Access + Send + Sync + 'static) -> Self {
        self.app.access = Some(Box::new(access));
        self
    }

    /// Sets the title that every page shows, such as the name of the environment.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.app.title = title.into();
        self
    }

    /// Sets the color beside the title.
    pub fn accent(mut self, accent: Accent) -> Self {
        self.app.accent = accent;
        self
    }

    /// Sets the address of traces. `{trace_id}`, `{correlation_id}` and `{job_id}` in it are replaced by those of the job. If
    /// the address contains `{trace_id}`, a job without a trace context has no link.
    pub fn trace_link(mut self, address: impl Into<String>) -> Self {
        self.app.trace_link = Some(address.into());
        self
    }

    /// Sets the address of log lines. `{job_id}`, `{correlation_id}` and `{run}` in it are replaced by those of a run.
    pub fn log_link(mut self, address: impl Into<String>) -> Self {
        self.app.log_link = Some(address.into());
        self
    }

    /// Refuses every change, whatever the access allows.
    pub fn read_only(mut self) -> Self {
        self.app.read_only = true;
        self
    }

    /// Sets the name of the program in the command lines that pages show. The default is `ratchet`.
    pub fn program(mut self, program: impl Into<String>) -> Self {
        self.app.program = program.into();
        self
    }

    /// Returns the router.
    ///
    /// Nest it with [`Router::nest`], or serve it alone. It has no fallback and no state.
    pub fn build(self) -> Router {
        let app = Arc::new(self.app);
        let mut paths: Vec<_> = route::routes().iter().map(|route| route.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut router = Router::new();
        for path in paths {
            let app = Arc::clone(&app);
            let handle = move |request| dispatch::handle(Arc::clone(&app), request);
            router = router.route(path, any(handle));
        }
        router.layer(tower_http::csrf::CsrfLayer::new())
    }
}
