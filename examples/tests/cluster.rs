//! Runs `scripts/cluster`: a scratch server, two workers and a producer.

use std::path::Path;
use std::process::Command;

#[test]
fn a_cluster_in_one_command() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let programs = Path::new(env!("CARGO_BIN_EXE_cluster_worker")).parent().expect("a folder");
    let mut script = Command::new("scripts/cluster");
    script.current_dir(root).env("RATCHET_CLUSTER_PROGRAMS", programs);
    let output = script.output().expect("it starts");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let expected = "36 orders placed, 4 called off before their commit\n\
        36 of 36 orders were shipped by 2 workers\n\
        jobs left: 0\n";
    assert!(stdout.ends_with(expected), "{stdout}\n{stderr}");
    let ran = |name: &str| {
        let line = stderr.lines().find(|line| line.starts_with(&format!("worker {name} ran ")));
        let jobs = line.and_then(|line| line.split(' ').nth(3)).and_then(|jobs| jobs.parse().ok());
        jobs.unwrap_or_else(|| panic!("worker {name} signed off:\n{stderr}"))
    };
    let (one, two): (u32, u32) = (ran("one"), ran("two"));
    assert_eq!(one + two, 36, "each order was shipped once");
}
