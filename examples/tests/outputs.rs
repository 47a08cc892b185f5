//! Compares the output of every example with the file in `expected`.

use std::path::PathBuf;
use std::process::Command;

/// Runs a program in the given folder and returns its standard output.
fn run(program: &str, folder: &PathBuf) -> String {
    let output = Command::new(program)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .output()
        .expect("it starts");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} failed:\n{stdout}\n{stderr}");
    stdout.into_owned()
}

/// Creates an empty folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn expected(name: &str) -> String {
    let path = format!("{}/expected/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

macro_rules! prints {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let printed = run(env!(concat!("CARGO_BIN_EXE_", stringify!($name))), &folder(stringify!($name)));
            assert_eq!(printed, expected(stringify!($name)));
        }
    )*};
}

prints! {
    callbacks do_not_retry etl_chain fraud_workflow image_pipeline import_batch import_rows nightly order_workflow
    ready_made supervised tenant_limits testing_kit timeout_and_cancel transactional_enqueue typed_result
    webhook_delivery
}

#[test]
fn quickstart_runs_twice_on_one_file() {
    let folder = folder("quickstart");
    let program = env!("CARGO_BIN_EXE_quickstart");
    let first = run(program, &folder);
    assert_eq!(first, expected("quickstart"));
    let second = run(program, &folder);
    assert_eq!(second, expected("quickstart_again"));
}
