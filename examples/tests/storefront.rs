//! The example `storefront`: who sees what, and who may change it. The page of the example shows the transcript.

mod transcript;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use transcript::{Transcript, get, wait_until};

/// Ends the process if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the shop, and returns its address and the line that it prints.
fn start() -> (Running, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_storefront"));
    command.env("SHOP_ADDRESS", "127.0.0.1:0").env_remove("RUST_LOG").stdout(Stdio::piped());
    let mut shop = Running(command.spawn().expect("starts"));
    let mut line = String::new();
    BufReader::new(shop.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let address = line.split_once("/ ").expect("an address").0.to_owned();
    (shop, address, line)
}

#[test]
fn the_login_of_the_shop_decides_what_a_user_may_do() {
    let (mut shop, address, line) = start();
    assert!(line.contains("password ratchet"), "{line}");
    let mut page = Transcript::read("storefront");
    page.show(&address, "http://127.0.0.1:4000");
    let cookies = page.folder().join("ada");
    let ada = ["-b", cookies.to_str().expect("text")];
    let charged = format!("{address}/ratchet/api/v1/jobs?filter=key:order-1+state:succeeded");

    // Without a session, with a wrong password, as a viewer, and as an operator.
    for _ in 0..4 {
        page.play(&[]);
    }
    wait_until("the first order is charged", || get(&charged, &ada).1.contains("shop.charge"));
    // What both see of a job.
    page.play(&[]);
    page.play(&[]);
    // A change by the viewer, and by the operator.
    page.play(&[]);
    page.play(&[]);
    let paused = get(&format!("{address}/ratchet/api/v1/queue?name=mail"), &ada).1;
    assert!(paused.contains("\"paused\":true"), "{paused}");
    page.play(&[]);
    page.compare();

    let id = shop.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("runs").success());
    assert!(shop.0.wait().expect("ends").success());
}
