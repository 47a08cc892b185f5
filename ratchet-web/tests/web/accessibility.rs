//! Every page in chromium, as assistive technology and the keyboard meet it. Where chromium is not installed, the tests
//! say so and pass. spec: O-09

use std::collections::HashSet;

use ratchet_core::Filter;
use serde_json::{Value, json};

use crate::browser::{Browser, serve, wait};
use crate::inventory;
use crate::shop::Shop;

/// Everything that can have the focus, in the order of the document.
const STOPS: &str = "[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]')].filter(it => it.checkVisibility({ visibilityProperty: true }))";
/// How failures show an element.
const SHOWN: &str = "const shown = it => it.outerHTML.slice(0, 160);";
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// A dashboard that is served. The addresses of its sections are read from the navigation.
struct Pages {
    /// Its store ends with it.
    _shop: Shop,
    base: String,
    /// A page of each other kind.
    details: Vec<String>,
}

impl Pages {
    async fn serve() -> Self {
        let (shop, base) = serve().await;
        let operation = inventory::add(&shop).await;
        let failures = shop.ratchet().failures();
        let group = failures.groups(&Filter::any(), 100).await.expect("reads").groups.remove(0);
        let nodes = shop.ratchet().nodes().list().await.expect("lists");
        let node = nodes.iter().find(|node| node.alive).expect("a node").info.id;
        let (failed, workflow, batch) = (shop.failed, shop.workflow, shop.batch);
        let (name, fingerprint) = (group.job_name, group.fingerprint);
        let details = vec![
            format!("jobs/{failed}"),
            format!("jobs/{}", shop.retrying),
            format!("jobs/{}", shop.waiting),
            "jobs?filter=sate%3Afailed".to_owned(),
            "jobs?filter=name%3Anone".to_owned(),
            format!("failures/group?name={name}&fingerprint={fingerprint}"),
            "queue?name=mail".to_owned(),
            "breaker?service=payment-gateway".to_owned(),
            "schedule?name=nightly".to_owned(),
            format!("flows/{workflow}"),
            format!("flows/{batch}"),
            format!("operations/{operation}"),
            "catalog/job?name=shop.charge".to_owned(),
            "pipelines?name=labels".to_owned(),
            "rejects?name=shop.import_line".to_owned(),
            "audit/verify".to_owned(),
            "help".to_owned(),
            format!("act/jobs.retry?job={failed}"),
            format!("act/jobs.edit?job={failed}"),
            "act/jobs.enqueue?name=shop.charge".to_owned(),
            "act/queues.limit?queue=mail&fair=yes".to_owned(),
            "act/erasures.start?subject=tenant%3Aacme".to_owned(),
            "act/operations.start?filter=state%3Afailed&action=retry".to_owned(),
            "act/archive.purge?state=canceled".to_owned(),
            format!("act/nodes.stop?node={node}"),
        ];
        Self { _shop: shop, base, details }
    }

    /// Shows every page to `check`, which gets the path of each.
    fn visit(&self, browser: &Browser, mut check: impl FnMut(&str)) {
        browser.go(&format!("{}/overview", self.base));
        let links = browser.run("return [...document.querySelectorAll('nav[aria-label=Sections] a')].map(it => it.getAttribute('href'))");
        let links = links.as_array().expect("links");
        assert!(links.len() > 15, "{links:?}");
        let sections = links.iter().map(|link| link.as_str().expect("an address"));
        for path in sections.chain(self.details.iter().map(String::as_str)) {
            browser.go(&format!("{}/{}", self.base, path.trim_start_matches("./")));
            check(path);
        }
    }
}

/// Opens a window and runs a check of all pages in it, outside of the runtime that serves them.
async fn in_browser(check: impl FnOnce(&Browser, &Pages) + Send + 'static) {
    let pages = Pages::serve().await;
    let run = move || {
        let Some(browser) = Browser::open(true) else { return };
        check(&browser, &pages);
    };
    tokio::task::spawn_blocking(run).await.expect("passes");
}

/// Returns the roles that a control may have, by its tag and type.
fn roles(control: &str) -> &'static [&'static str] {
    match control {
        "a" => &["link"],
        "button" => &["button"],
        "input search" => &["searchbox"],
        "input checkbox" => &["checkbox"],
        "input text" | "input password" | "textarea" => &["textbox"],
        "summary" => &["DisclosureTriangle", "button"],
        "main" => &["main"],
        _ => &[],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn o_09_every_control_has_a_role_and_a_name() {
    // Controls that look alike get the same answer, so each kind is asked for once. Digits are those of ids and counts.
    let controls = format!(
        "{SHOWN}
        document.querySelectorAll('details').forEach(it => it.open = true);
        const alike = it => [it.className, it.textContent, it.getAttribute('aria-label'), ...[...it.labels || []].map(label => label.textContent)];
        return {STOPS}.map(it => [
            it.localName === 'input' ? 'input ' + it.type : it.localName,
            alike(it).join('|').replace(/[0-9a-f]*[0-9][0-9a-f]*/g, '0'), it, shown(it)]);"
    );
    in_browser(move |browser, pages| {
        let mut seen = HashSet::new();
        pages.visit(browser, |path| {
            for found in browser.run(&controls).as_array().expect("controls") {
                let control = found[0].as_str().expect("a tag");
                let is_new = seen.insert((control.to_owned(), found[1].to_string()));
                if is_new {
                    check_control(browser, control, &found[2], &format!("{path}: {}", found[3]));
                }
            }
        });
        assert!(seen.len() > 100, "only {} kinds of controls", seen.len());
    })
    .await;
}

fn check_control(browser: &Browser, control: &str, element: &Value, place: &str) {
    let id = element.as_object().and_then(|it| it.values().next()).and_then(Value::as_str);
    let computed = |what: &str| {
        let id = id.unwrap_or_else(|| panic!("not an element: {element}"));
        browser.call("GET", &format!("/element/{id}/computed{what}"), Value::Null)
    };
    let role = computed("role");
    assert!(roles(control).contains(&role.as_str().unwrap_or_default()), "{role}: {place}");
    let name = computed("label");
    assert!(name.as_str().is_some_and(|name| !name.trim().is_empty()), "{name}: {place}");
}

/// The heading of the page is the first one, and no level is skipped.
const HEADINGS: &str = "
    const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')];
    if (headings.filter(it => it.localName === 'h1').length !== 1) wrong.push('not one h1');
    let level = 0;
    for (const heading of headings) {
        const next = Number(heading.localName[1]);
        if (next > level + 1) wrong.push('h' + next + ' after h' + level + ': ' + shown(heading));
        if (!heading.textContent.trim()) wrong.push('empty: ' + shown(heading));
        level = next;
    }";

/// A banner with the navigation, and the content. Navigations have different names.
const LANDMARKS: &str = "
    for (const landmark of ['body > .app > header', 'header > nav', 'main', '.app > main']) {
        const found = document.querySelectorAll(landmark).length;
        if (found !== 1) wrong.push(found + ' of ' + landmark);
    }
    const names = [...document.querySelectorAll('nav')].map(it => it.getAttribute('aria-label'));
    if (names.includes(null) || new Set(names).size !== names.length) wrong.push('navigations: ' + names);
    if ([...document.querySelectorAll('nav')].some(it => !it.querySelector('a'))) wrong.push('an empty navigation');
    const [skip, ...rest] = document.querySelectorAll('a[href], button, input, select, textarea, summary');
    if (skip.getAttribute('href') !== '#main') wrong.push('does not begin with a link to the content: ' + shown(skip));
    for (const it of rest) {
        if (!it.closest('main, .app > header')) wrong.push('outside of landmarks: ' + shown(it));
        if (it.closest('[role=img]')) wrong.push('inside of a picture: ' + shown(it));
    }";

/// A table has a name, and a heading for each cell of a row.
const TABLES: &str = "
    for (const table of document.querySelectorAll('table')) {
        if (!table.caption || !table.caption.textContent.trim()) wrong.push('no caption: ' + shown(table));
        const headings = [...table.querySelectorAll('thead th')];
        for (const it of table.querySelectorAll('th')) {
            if (!['col', 'row'].includes(it.getAttribute('scope'))) wrong.push('no scope: ' + shown(it));
            if (!it.textContent.trim()) wrong.push('empty: ' + shown(it));
        }
        for (const row of table.tBodies[0].rows) {
            if (row.cells.length !== headings.length) wrong.push('cells without a heading: ' + shown(row));
        }
    }";

/// A field has a label, and what refers to another element finds it.
const FIELDS: &str = "
    for (const it of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
        if (![...it.labels].some(label => label.textContent.trim())) wrong.push('no label: ' + shown(it));
    }
    for (const name of ['aria-labelledby', 'aria-describedby', 'for']) {
        for (const it of document.querySelectorAll('[' + name + ']')) {
            if (!document.getElementById(it.getAttribute(name))) wrong.push(name + ' leads nowhere: ' + shown(it));
        }
    }";

#[tokio::test(flavor = "multi_thread")]
async fn o_09_every_page_has_headings_landmarks_and_labels() {
    in_browser(|browser, pages| {
        let rules = [HEADINGS, LANDMARKS, TABLES, FIELDS].map(|rule| format!("{{ {rule} }}"));
        let script = format!("const wrong = []; {SHOWN} {} return wrong;", rules.concat());
        let mut wrong = Vec::new();
        pages.visit(browser, |path| {
            let found = browser.run(&script);
            wrong.extend((found != json!([])).then(|| format!("{path}: {found}")));
        });
        assert!(wrong.is_empty(), "{wrong:#?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn o_09_the_first_stop_of_a_page_leads_to_its_content() {
    in_browser(|browser, pages| {
        for page in ["overview", "queue?name=mail", "act/queues.limit?queue=mail"] {
            browser.go(&format!("{}/{page}", pages.base));
            browser.keys(&format!("{TAB}{ENTER}"));
            let place = browser.run("return [document.activeElement.id, location.hash]");
            assert_eq!(place, json!(["main", "#main"]), "{page}");
            browser.keys(TAB);
            let inside = browser.run("return document.activeElement.matches('main *')");
            assert_eq!(inside, json!(true), "{page}: the stop after it");
        }
    })
    .await;
}

/// Emulates a media feature, such as a color scheme.
fn prefer(browser: &Browser, feature: &str, value: &str) {
    let features = json!([{ "name": feature, "value": value }]);
    let params = json!({ "features": features });
    let body = json!({ "cmd": "Emulation.setEmulatedMedia", "params": params });
    browser.call("POST", "/goog/cdp/execute", body);
    let matches = browser.run(&format!("return matchMedia('({feature}: {value})').matches"));
    assert_eq!(matches, json!(true), "{feature}: {value}");
}

#[tokio::test(flavor = "multi_thread")]
async fn o_09_the_focus_follows_the_document_and_is_visible_in_both_color_schemes() {
    in_browser(|browser, pages| {
        for page in ["overview", "jobs?filter=state%3Afailed", "act/queues.limit?queue=mail"] {
            for scheme in ["light", "dark"] {
                browser.go(&format!("{}/{page}", pages.base));
                prefer(browser, "prefers-color-scheme", scheme);
                check_stops(browser, &format!("{page}, {scheme}"));
            }
        }
    })
    .await;
}

/// Presses Tab from the top of a page, once for each control and once more.
fn check_stops(browser: &Browser, page: &str) {
    let begin = format!(
        "{SHOWN}
        document.activeElement.blur();
        getSelection().collapse(document.body, 0);
        const mark = it => {{
            const style = getComputedStyle(it);
            const outline = style.outlineStyle === 'none' ? '' : [style.outlineStyle, style.outlineWidth, style.outlineColor].join(' ');
            return outline + ' ' + style.boxShadow;
        }};
        const stops = {STOPS}.filter(it => it.tabIndex >= 0);
        const unfocused = new Map(stops.map(it => [it, mark(it)]));
        window.visited = [];
        document.addEventListener('focusin', event => {{
            const it = event.target;
            visited.push([shown(it), mark(it) === unfocused.get(it) ? 'looks unfocused' : 'visible']);
        }});
        return stops.map(shown);"
    );
    let stops = browser.run(&begin);
    let stops = stops.as_array().expect("controls");
    assert!(stops.len() > 20, "{page}: {stops:?}");
    browser.keys(&TAB.repeat(stops.len() + 1));
    let visited = browser.run("return visited");
    let visited = visited.as_array().expect("controls");
    for (at, stop) in stops.iter().enumerate() {
        assert_eq!(visited.get(at), Some(&json!([stop, "visible"])), "{page}: stop {at}");
    }
    // The last control lets the focus go.
    assert_ne!(visited.get(stops.len()), visited.get(stops.len() - 1), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn o_09_nothing_moves_if_the_reader_prefers_reduced_motion() {
    // Parts that the script shows later are shown for this, such as the mark of live pages.
    const MOVING: &str = "const shown = it => it.outerHTML.slice(0, 160);
        const seconds = list => Math.max(...list.split(',').map(it => parseFloat(it) / (it.includes('ms') ? 1000 : 1)));
        document.querySelectorAll('[hidden]').forEach(it => it.hidden = false);
        const moving = document.getAnimations().map(it => 'animation ' + it.animationName);
        for (const it of document.querySelectorAll('*')) {
            for (const part of [null, '::before', '::after']) {
                const style = getComputedStyle(it, part);
                if (style.animationName !== 'none') moving.push('animated: ' + style.animationName);
                if (seconds(style.transitionDuration) > 0.01) moving.push('transition: ' + shown(it));
                if (style.scrollBehavior === 'smooth') moving.push('scrolls: ' + shown(it));
            }
        }
        return moving;";
    in_browser(|browser, pages| {
        browser.go(&format!("{}/overview", pages.base));
        prefer(browser, "prefers-reduced-motion", "no-preference");
        wait(browser, "return !document.getElementById('live-state').hidden");
        let moving = browser.run(MOVING);
        assert_ne!(moving, json!([]), "the mark of live pages moves, or this test sees nothing");
        prefer(browser, "prefers-reduced-motion", "reduce");
        pages.visit(browser, |path| assert_eq!(browser.run(MOVING), json!([]), "{path}"));
    })
    .await;
}
