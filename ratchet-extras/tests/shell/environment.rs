//! Attacks through the environment, the working directory and the standard input.

use ratchet_extras::shell::{Program, Shell, ShellPolicy, ShellPolicyError};

use super::{assert_refused, policy, run, script};

const ENV: &str = "/usr/bin/env";

#[tokio::test]
async fn the_environment_of_the_worker_is_not_passed_on() {
    assert!(std::env::vars().next().is_some(), "the test has an environment");
    let output = run(policy(Program::at(ENV).allow_interpreter()), Shell::run(ENV)).await;
    assert_eq!(output.expect("succeeds").stdout.complete(), Some(""));
}

#[tokio::test]
async fn only_allowed_variables_are_passed_on() {
    let policy = ShellPolicy::builder()
        .program(Program::at(ENV).allow_interpreter())
        .env("LANG", "C")
        .inherit_env("CARGO_PKG_NAME_THAT_DOES_NOT_EXIST")
        .job_env("BATCH")
        .build()
        .expect("a policy");
    let output = run(policy, Shell::run(ENV).env("BATCH", "7; sh")).await.expect("succeeds");
    assert_eq!(output.stdout.complete(), Some("BATCH=7; sh\nLANG=C\n"));
}

#[tokio::test]
async fn a_job_cannot_preload_a_library() {
    for attack in
        ["LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PATH", "BASH_ENV", "A=B"]
    {
        let job = Shell::run("/bin/sh").env(attack, "/tmp/evil.so");
        assert_refused(policy(script("true")), job, "variable_not_allowed").await;
        let error = ShellPolicy::builder().job_env(attack).build().expect_err("refused");
        let refused = matches!(
            error,
            ShellPolicyError::DangerousVariable { .. } | ShellPolicyError::BadVariable { .. }
        );
        assert!(refused, "{error}");
    }
}

#[tokio::test]
async fn the_working_directory_is_fixed() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = ShellPolicy::builder().program(script("pwd")).working_dir(folder.path());
    let output = run(policy.build().expect("a policy"), Shell::run("/bin/sh")).await;
    let resolved = std::fs::canonicalize(folder.path()).expect("exists");
    assert_eq!(
        output.expect("succeeds").stdout.complete(),
        Some(format!("{}\n", resolved.display()).as_str())
    );
    let root = run(super::policy(script("pwd")), Shell::run("/bin/sh")).await;
    assert_eq!(root.expect("succeeds").stdout.complete(), Some("/\n"));
}

#[tokio::test]
async fn a_program_that_reads_its_input_finds_it_empty() {
    let output = run(policy(script("cat; echo end")), Shell::run("/bin/sh")).await;
    assert_eq!(output.expect("succeeds").stdout.complete(), Some("end\n"));
}
