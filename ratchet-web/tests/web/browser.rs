//! The dashboard in chromium, driven by chromedriver. Where they are not installed, the tests say so and pass.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ratchet_web::Access;
use serde_json::{Value, json};

use crate::shop::{Reserve, Shop};

/// A window of chromium. It is closed with the test.
pub(crate) struct Browser {
    driver: Child,
    port: String,
    session: String,
}

impl Browser {
    /// Opens a window, or returns `None` if chromedriver is not installed.
    pub(crate) fn open(javascript: bool) -> Option<Self> {
        let Some((driver, port)) = start_driver() else {
            eprintln!("skipped: chromedriver is not installed");
            return None;
        };
        let mut browser = Self { driver, port, session: String::new() };
        let setting = if javascript { 1 } else { 2 };
        let options = json!({
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
            "prefs": { "profile.managed_default_content_settings.javascript": setting },
        });
        let wanted = json!({ "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let answer = browser.call("POST", "", json!({ "capabilities": { "alwaysMatch": wanted } }));
        let id = answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}"));
        browser.session = format!("/{id}");
        Some(browser)
    }

    #[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    pub(crate) fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).expect("connects");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (session, length) = (&self.session, body.len());
        write!(stream, "{method} /session{session}{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").expect("writes");
        // The driver keeps the connection open, so that the length of the body says where it ends.
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("reads");
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("reads");
        let mut value: Value = serde_json::from_slice(&body).expect("JSON");
        value["value"].take()
    }

    pub(crate) fn go(&self, address: &str) {
        self.call("POST", "/url", json!({ "url": address }));
    }

    /// Runs a script and returns its value.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", json!({ "script": script, "args": [] }))
    }

    pub(crate) fn keys(&self, keys: &str) {
        let press = |key| {
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        };
        let actions: Vec<_> = keys.chars().flat_map(press).collect();
        let actions = json!([{ "type": "key", "id": "k", "actions": actions }]);
        self.call("POST", "/actions", json!({ "actions": actions }));
    }

    /// Returns what the page has reported to the console, such as violations of the policy.
    fn console(&self) -> Value {
        self.call("POST", "/se/log", json!({ "type": "browser" }))
    }
}

/// Starts chromedriver and returns it with its port, or `None` if it is not installed.
fn start_driver() -> Option<(Child, String)> {
    let mut command = Command::new("chromedriver");
    command.args(["--port=0", "--log-level=SEVERE"]).stdout(Stdio::piped()).stderr(Stdio::null());
    // It exits if another process takes the port between its choice and its use.
    for _ in 0..20 {
        let mut driver = command.spawn().ok()?;
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            Some(line.split_once("successfully on port ")?.1.trim_end_matches('.').to_owned())
        });
        if let Some(port) = port {
            std::thread::spawn(move || lines.for_each(drop));
            return Some((driver, port));
        }
        driver.wait().expect("ends");
    }
    panic!("chromedriver never got a port");
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", "", Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Serves the dashboard of a shop at `/ratchet`. Returns the shop and the address.
pub(crate) async fn serve() -> (Shop, String) {
    let shop = Shop::open().await;
    let ops = ratchet_web::router(shop.ratchet()).access(|_| Access::admin("ada")).build();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("listens");
    let address = format!("http://{}/ratchet", listener.local_addr().expect("an address"));
    let app = axum::Router::new().nest("/ratchet", ops);
    tokio::spawn(async move { axum::serve(listener, app).await });
    (shop, address)
}

/// Waits until a script returns `true`.
pub(crate) fn wait(browser: &Browser, script: &str) {
    for _ in 0..300 {
        if browser.run(script) == json!(true) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("never true: {script}");
}

#[tokio::test(flavor = "multi_thread")]
async fn o_09_pages_report_nothing_to_the_console_and_shortcuts_lead_to_them() {
    let (shop, base) = serve().await;
    let pages = [
        "overview".to_owned(),
        "jobs".to_owned(),
        "failures".to_owned(),
        "queues".to_owned(),
        "breakers".to_owned(),
        "help".to_owned(),
        "api/v1".to_owned(),
        format!("jobs/{}", shop.failed),
        format!("flows/{}", shop.workflow),
        format!("act/jobs.retry?job={}", shop.failed),
    ];
    let check = move || {
        let Some(browser) = Browser::open(true) else { return };
        for page in &pages {
            browser.go(&format!("{base}/{page}"));
            assert_eq!(browser.console(), json!([]), "{page}");
            // Every control has a name for assistive technology.
            let nameless = "return [...document.querySelectorAll('a,button,input:not([type=hidden]),textarea')].filter(it => !(it.textContent.trim() || it.getAttribute('aria-label') || (it.labels && it.labels.length))).length";
            assert_eq!(browser.run(nameless), json!(0), "{page}");
        }
        browser.go(&format!("{base}/overview"));
        browser.keys("gj");
        wait(&browser, "return location.pathname.endsWith('/ratchet/jobs')");
        browser.keys("/");
        wait(&browser, "return document.activeElement.id === 'filter'");
        browser.keys("state:failed\u{e007}");
        wait(
            &browser,
            "return location.search.includes('state%3Afailed') && document.querySelectorAll('#jobs tbody tr').length === 3",
        );
        browser.keys("?");
        wait(&browser, "return location.pathname.endsWith('/help')");
    };
    tokio::task::spawn_blocking(check).await.expect("passes");
}

#[tokio::test(flavor = "multi_thread")]
async fn o_10_a_live_update_leaves_alone_what_is_focused_selected_or_opened() {
    let (shop, base) = serve().await;
    let ratchet = shop.ratchet().clone();
    let retrying = shop.retrying;
    let runtime = tokio::runtime::Handle::current();
    let check = move || {
        let Some(browser) = Browser::open(true) else { return };
        browser.go(&format!("{base}/overview"));
        let waiting = "document.querySelector('#tiles dd').textContent";
        let before = browser.run(&format!("return {waiting}"));
        // The table of queues is selected, so that only the tiles change.
        browser.run("getSelection().selectAllChildren(document.querySelector('#queues td'))");
        browser.run("window.cell = document.querySelector('#queues td')");
        runtime.block_on(async { ratchet.enqueue(Reserve { order: 6 }).await }).expect("enqueues");
        wait(&browser, &format!("return {waiting} !== {before}"));
        assert_eq!(
            browser.run("return document.contains(window.cell) && !getSelection().isCollapsed"),
            json!(true)
        );
        // An opened log stays open, and a focused button keeps the focus.
        browser.go(&format!("{base}/jobs/{retrying}"));
        browser.run("document.querySelector('#runs details').open = true; window.log = document.querySelector('#runs details')");
        browser.run("document.querySelector('#actions a').focus()");
        runtime.block_on(async { ratchet.jobs().cancel(retrying).await }).expect("cancels");
        wait(&browser, "return document.querySelector('#state').textContent.includes('canceled')");
        assert_eq!(
            browser.run("return document.contains(window.log) && window.log.open"),
            json!(true)
        );
        assert_eq!(browser.run("return document.activeElement.textContent"), json!("Cancel"));
        assert_eq!(browser.console(), json!([]));
    };
    tokio::task::spawn_blocking(check).await.expect("passes");
}

#[tokio::test(flavor = "multi_thread")]
async fn o_09_a_job_is_retried_without_javascript() {
    let (shop, base) = serve().await;
    let failed = shop.failed;
    let check = move || {
        let Some(browser) = Browser::open(false) else { return };
        let click = |selector: &str| {
            let found = browser.call(
                "POST",
                "/element",
                json!({ "using": "css selector", "value": selector }),
            );
            let id = found.as_object().and_then(|found| found.values().next()).cloned();
            let id = id.unwrap_or_else(|| panic!("{selector}: {found}"));
            browser.call(
                "POST",
                &format!("/element/{}/click", id.as_str().unwrap_or_default()),
                json!({}),
            );
        };
        browser.go(&format!("{base}/jobs/{failed}"));
        click(".actions a[href*='jobs.retry']");
        click("form.act button[type=submit]");
        let title = browser.call("GET", "/url", Value::Null);
        assert!(title.as_str().is_some_and(|url| url.ends_with("?done=jobs.retry")), "{title}");
    };
    tokio::task::spawn_blocking(check).await.expect("passes");
    let job = shop.ratchet().jobs().get(failed).await.expect("reads").expect("exists");
    assert_eq!(job.state, ratchet_core::JobState::Pending);
}
