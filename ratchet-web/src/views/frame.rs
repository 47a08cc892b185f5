//! [`Page`]: the frame of every page.

use axum::body::Body;
use axum::http::{Response, StatusCode};
use maud::{DOCTYPE, Markup, html};
use ratchet_core::{BreakerState, Capability, JobState};

use crate::act;
use crate::assets;
use crate::dashboard::App;
use crate::link::Root;
use crate::problem::Problem;
use crate::request::{Answer, Request, response};
use crate::text::count;

/// A link of the navigation: path, label, shortcut, and whether an access with a scope sees it.
type Section = (&'static str, &'static str, char, bool);

/// The sections of the navigation.
const SECTIONS: [(&str, &[Section]); 3] = [
    (
        "Watch",
        &[
            ("overview", "Overview", 'o', true),
            ("jobs", "Jobs", 'j', true),
            ("failures", "Failures", 'f', true),
            ("flows", "Flows", 'w', true),
        ],
    ),
    (
        "Control",
        &[
            ("queues", "Queues", 'q', true),
            ("breakers", "Breakers", 'b', false),
            ("schedules", "Schedules", 's', true),
            ("enqueue", "Enqueue", 'e', true),
            ("operations", "Operations", 'm', false),
        ],
    ),
    (
        "System",
        &[
            ("nodes", "Nodes", 'n', false),
            ("catalog", "Catalog", 'c', false),
            ("stats", "History", 'h', false),
            ("alerts", "Alerts", 'a', true),
            ("rejects", "Rejects", 'r', false),
            ("pipelines", "Pipelines", 'p', false),
            ("archive", "Archive", 'v', false),
            ("audit", "Audit", 't', false),
            ("unreadable", "Unreadable", 'u', false),
            ("doctor", "Doctor", 'd', false),
        ],
    ),
];

/// A page: its title, what stands beside it, and its content.
#[derive(Debug)]
pub(crate) struct Page {
    /// The path of the section that is marked in the navigation.
    pub(crate) section: &'static str,
    pub(crate) title: String,
    /// The link to the list that the object is in, with its label.
    pub(crate) parent: Option<(String, &'static str)>,
    /// Stands beside the title.
    pub(crate) beside: Markup,
    /// The buttons of the page.
    pub(crate) actions: Markup,
    pub(crate) content: Markup,
    /// Whether the script keeps the page up to date.
    pub(crate) live: bool,
}

impl Page {
    pub(crate) fn new(section: &'static str, title: impl Into<String>, content: Markup) -> Self {
        Self {
            section,
            title: title.into(),
            parent: None,
            beside: html! {},
            actions: html! {},
            content,
            live: true,
        }
    }

    /// Returns the page as a response, with the navigation and the result of the last action.
    pub(crate) async fn answer(self, request: &Request) -> Answer {
        let badges = badges(request).await?;
        let done = act::result(request);
        let page = self.html(request, &badges, done);
        Ok(response(StatusCode::OK, "text/html; charset=utf-8", page.into_string()))
    }

    fn html(&self, request: &Request, badges: &Badges, done: Option<String>) -> Markup {
        let root = &request.root;
        document(
            &request.app,
            root,
            &self.title,
            &html! {
                (self.side(request, badges))
                main #main tabindex="-1" aria-labelledby="page-title" data-live-page=[self.live.then_some("")] {
                    @if request.app.read_only { p.notice { "This dashboard is read-only." } }
                    @if let Some(done) = done { p.notice.done role="status" { (done) } }
                    div.top {
                        div.grow {
                            @if let Some((link, label)) = &self.parent {
                                p.crumb { a href=(link) { (label) } }
                            }
                            h1 #page-title { (self.title) " " (self.beside) }
                        }
                        @if self.live { span.live #live-state hidden { "live" } }
                        div.actions { (self.actions) }
                    }
                    (self.content)
                }
            },
        )
    }

    fn side(&self, request: &Request, badges: &Badges) -> Markup {
        let root = &request.root;
        let everything = request.access.scope().is_everything();
        html! {
            header.side {
                (brand(&request.app, root))
                nav aria-label="Sections" {
                    // The heading of the page is the first one, so that the names of these lists are not headings.
                    @for (name, links) in SECTIONS {
                        @let id = format!("sections-{}", name.to_lowercase());
                        p.part id=(id) { (name) }
                        ul aria-labelledby=(id) { @for &(path, label, key, scoped) in links {
                            @if (scoped || everything) && (path != "enqueue" || request.access.may(Capability::Submit)) {
                                li { a href=(root.to(path)) aria-current=[(path == self.section).then_some("page")]
                                    data-key=(key) { (label) (badges.of(path)) } }
                            }
                        } }
                    }
                }
                p.who {
                    @if !request.access.actor().is_empty() { span { (crate::text::brief(request.access.actor(), 40)) " · " } }
                    a href=(root.to("help")) data-key="?" { "Help" }
                }
            }
        }
    }
}

/// The numbers in the navigation.
#[derive(Debug, Default)]
struct Badges {
    live: Option<u64>,
    failed: u64,
    open_breakers: usize,
}

impl Badges {
    fn of(&self, path: &str) -> Markup {
        let badge = |class: &str, text: String| {
            html! { span class=(class) id=(format!("badge-{path}")) data-live="" { (text) } }
        };
        match path {
            "jobs" => self.live.map_or_else(|| html! {}, |live| badge("n", count(live))),
            "failures" if self.failed > 0 => badge("n bad", count(self.failed)),
            "breakers" if self.open_breakers > 0 => {
                badge("n bad", format!("{} open", self.open_breakers))
            }
            _ => html! {},
        }
    }
}

async fn badges(request: &Request) -> Result<Badges, Problem> {
    let mut badges = Badges::default();
    if let Some(counts) = request.counts().await? {
        let of = |state| counts.get(&state).copied().unwrap_or(0);
        badges.live = Some(of(JobState::Pending) + of(JobState::Running) + of(JobState::Paused));
        badges.failed = of(JobState::Failed);
    }
    if request.access.scope().is_everything() {
        let breakers = request.ratchet().breakers().list().await?;
        let open = breakers.iter().filter(|record| record.state != BreakerState::Closed);
        badges.open_breakers = open.count();
    }
    Ok(badges)
}

fn brand(app: &App, root: &Root) -> Markup {
    html! {
        p.brand { img src=(root.to(&assets::path("icon"))) alt="" width="20" height="20"; "Ratchet" }
        @if !app.title.is_empty() { p class=(format!("env {}", app.accent.class())) { (app.title) } }
    }
}

fn document(app: &App, root: &Root, title: &str, body: &Markup) -> Markup {
    let title = match app.title.as_str() {
        "" => format!("{title} · Ratchet"),
        name => format!("{title} · {name}"),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) }
                link rel="icon" type="image/svg+xml" href=(root.to(&assets::path("icon")));
                link rel="stylesheet" href=(root.to(&assets::path("style")));
                script src=(root.to(&assets::path("script"))) defer data-live=(root.to("live")) {}
            }
            body {
                a.skip href="#main" { "Skip to content" }
                div.app { (body) }
            }
        }
    }
}

/// Returns the page of a problem: what happened, and what to do.
pub(crate) fn problem_page(app: &App, root: &Root, problem: &Problem) -> Response<Body> {
    let closed = app.access.is_none() && problem.kind == "denied";
    let page = document(
        app,
        root,
        problem.title,
        &html! {
            header.side { (brand(app, root)) }
            main #main tabindex="-1" aria-labelledby="page-title" {
                div.top { h1 #page-title { (problem.title) } }
                section.card { div.body {
                    p { (crate::text::printable(&problem.detail)) "." }
                    @if closed {
                        p { "The dashboard is closed until the application says who may see it. Add this to its code:" }
                        pre { code { (CLOSED) } }
                    } @else {
                        p { a href=(root.to("overview")) { "Back to the overview" } }
                    }
                } }
            }
        },
    );
    response(problem.status, "text/html; charset=utf-8", page.into_string())
}

const CLOSED: &str = "ratchet_web::router(&ratchet)
    .access(|request| match request.extensions.get::<User>() {
        Some(user) => ratchet_web::Access::operator(&user.email),
        None => ratchet_web::Access::denied(),
    })
    .build()";
