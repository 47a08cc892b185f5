//! The manifests in `dashboards/kubernetes`: the example `deployed_worker` is started, probed and stopped as they say. The
//! page of the example shows the transcript.

mod transcript;

#[path = "../../ratchet-pg/tests/support/database.rs"]
#[allow(dead_code)]
mod database;
#[path = "../../ratchet-pg/tests/support/server.rs"]
#[allow(dead_code)]
mod server;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use database::Database;
use transcript::{Transcript, get, wait_until};

const MIGRATE: &str = include_str!("../../dashboards/kubernetes/migrate.yaml");
const WORKER: &str = include_str!("../../dashboards/kubernetes/worker.yaml");
const PAGE: &str = include_str!("../../docs/site/examples/kubernetes.md");

/// Returns the rest of the first line with this text.
fn after<'a>(manifest: &'a str, text: &str) -> &'a str {
    let line = manifest.lines().find_map(|line| line.split_once(text));
    line.unwrap_or_else(|| panic!("no line with `{text}`")).1.trim()
}

/// Returns the arguments of the container.
fn args(manifest: &str) -> Vec<String> {
    serde_json::from_str(after(manifest, "args: ")).expect("a list in one line")
}

/// Returns the variables with a value in the manifest.
fn variables(manifest: &str) -> Vec<(&str, &str)> {
    let rows = manifest.lines().filter_map(|line| {
        let row = line.trim().strip_prefix("- { name: ")?.strip_suffix(" }")?;
        let (name, value) = row.split_once(", value: ")?;
        Some((name, value.trim_matches('"')))
    });
    rows.collect()
}

/// Returns the path of a probe.
fn probe<'a>(manifest: &'a str, name: &str) -> &'a str {
    let (_, rest) = manifest.split_once(&format!("{name}:\n")).expect(name);
    after(rest, "httpGet: { path: ").split(',').next().expect("a path")
}

fn seconds(text: &str) -> u32 {
    text.trim_end_matches([' ', '}', 's']).parse().expect("a number")
}

/// The process of the container. Ends if the test fails.
struct Pod {
    process: Child,
    address: String,
    log: Option<JoinHandle<String>>,
}

impl Pod {
    /// Starts the container of the deployment, on another port.
    fn start(store: &str, printer: &str) -> Self {
        let port = after(WORKER, "name: health, containerPort: ").trim_end_matches(" }");
        let args = args(WORKER);
        assert!(args.contains(&format!("0.0.0.0:{port}")), "{args:?}");
        let args = args.iter().map(|arg| arg.replace(&format!("0.0.0.0:{port}"), "127.0.0.1:0"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_deployed_worker"));
        command.args(args).env_clear().envs(variables(WORKER));
        command.env("RATCHET_STORE", store).env("SHOP_PRINTER", printer);
        // No test depends on the speed of the machine: the run may end long after the signal.
        command.env("RATCHET_SHUTDOWN_GRACE", "10m").stderr(Stdio::piped()).stdout(Stdio::null());
        let mut process = command.spawn().expect("starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let mut printed = String::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else { panic!("no address:\n{printed}") };
            if let Some(address) = line.strip_prefix("health and metrics at ") {
                break address.trim_end_matches('/').to_owned();
            }
            printed += &(line + "\n");
        };
        let log = std::thread::spawn(move || lines.map_while(Result::ok).collect());
        Self { process, address, log: Some(log) }
    }

    /// Waits for the end of the process. Returns what it has logged.
    fn end(mut self) -> String {
        let status = self.process.wait().expect("ends");
        let log = self.log.take().expect("is read once").join().expect("reads");
        assert!(status.success(), "{status}: {log}");
        log
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_manifests_start_probe_and_stop_a_worker() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let database = runtime.block_on(Database::take());
    let store = database.url();
    let environment = [("RATCHET_STORE", store.as_str()), ("RUST_LOG", "off")];
    let mut page = Transcript::read("kubernetes");
    let printer = page.folder().join("printer").display().to_string();

    // The Job of the migration, and the start of the pod.
    assert_eq!(args(MIGRATE).join(" "), "migrate up");
    page.play(&environment);
    let pod = Pod::start(&store, &printer);
    page.show(&pod.address, "http://10.0.0.7:9090");
    let ready = format!("{}{}", pod.address, probe(WORKER, "startupProbe"));
    let live = format!("{}{}", pod.address, probe(WORKER, "livenessProbe"));
    assert_eq!(ready, format!("{}{}", pod.address, probe(WORKER, "readinessProbe")));
    wait_until("the start ends", || get(&ready, &[]).0 == "200");
    page.play(&[]);
    page.play(&[]);

    // A rollout replaces the pod while it runs a job.
    let job = page.play(&environment).trim().to_owned();
    page.show(&job, "01a1e59f-1126-7000-aa3b-d90d531ee120");
    let running = || {
        let mut list = Command::new(env!("CARGO_BIN_EXE_deployed_worker"));
        list.args(["jobs", "count", "state:running"]).envs(environment);
        String::from_utf8_lossy(&list.output().expect("starts").stdout).trim() == "1"
    };
    wait_until("the job runs", running);
    page.play(&[("pid", &pod.process.id().to_string())]);
    wait_until("the worker is stopping", || get(&ready, &[]).0 == "503");
    page.play(&[]);
    page.play(&[]);
    assert_eq!(get(&live, &[]).0, "200", "a stopping worker must not be killed");
    std::fs::write(&printer, "ready").expect("writes");
    let log = pod.end();
    assert!(log.contains("claimed 1, succeeded 1"), "{log}");
    page.play(&environment);
    page.compare();
}

#[test]
fn the_pod_has_more_time_to_stop_than_the_worker_needs() {
    let limit = seconds(after(WORKER, "terminationGracePeriodSeconds: "));
    let hook = seconds(after(WORKER, "sleep: { seconds: "));
    let variables = variables(WORKER);
    let grace = variables.iter().find(|row| row.0 == "RATCHET_SHUTDOWN_GRACE").expect("is set").1;
    // One second for handlers that ignore their stop, see the table of the guide.
    assert!(limit > hook + seconds(grace) + 1, "{limit} s for {hook} s and {grace}");
}

#[test]
fn the_commands_of_the_page_name_what_the_manifests_declare() {
    let job = after(MIGRATE, "name: shop-migrate-");
    assert!(PAGE.contains(&format!("job/shop-migrate-{job}")), "{job}");
    for name in ["deployment/", "app="] {
        assert!(PAGE.contains(&format!("{name}{}", after(WORKER, "  name: "))), "{name}");
    }
    let image = after(WORKER, "image: ");
    assert_eq!(image, after(MIGRATE, "image: "), "one image");
}
