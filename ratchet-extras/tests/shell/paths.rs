//! Attacks through the path of the program.

use std::os::unix::fs::{PermissionsExt, symlink};

use ratchet_extras::shell::{Program, Shell, ShellPolicy};

use super::{assert_refused, policy, resolved, run, script};

#[tokio::test]
async fn relative_paths_are_refused() {
    for attack in ["sh", "./sh", "bin/sh", "../../bin/sh", "", "~/sh", "sh -c id"] {
        assert_refused(policy(script("true")), Shell::run(attack), "relative_path").await;
    }
}

#[tokio::test]
async fn programs_are_not_searched_in_path() {
    let folder = tempfile::tempdir().expect("a folder");
    symlink("/bin/sh", folder.path().join("tool")).expect("a link");
    let path = folder.path().to_str().expect("text");
    let with_path = || ShellPolicy::builder().program(script("true")).env("PATH", path).build();
    assert_refused(with_path().expect("a policy"), Shell::run("tool"), "relative_path").await;
    let job = Shell::run("tool").env("PATH", "/bin");
    assert_refused(with_path().expect("a policy"), job, "variable_not_allowed").await;
}

#[tokio::test]
async fn other_programs_of_the_same_directory_are_refused() {
    for attack in [
        "/bin/ls",
        "/bin/sh/",
        "/bin",
        "/bin/",
        "/",
        "/bin/SH",
        "/bin/sh ",
        "/dev/null",
        "/no/such",
    ] {
        let policy = policy(script("true"));
        assert_refused(policy, Shell::run(attack), "program_not_allowed").await;
    }
}

#[tokio::test]
async fn dots_are_resolved_before_the_comparison() {
    let output = run(policy(script("echo ran")), Shell::run("/bin/../bin/./sh")).await;
    assert_eq!(output.expect("the same program").stdout.complete(), Some("ran\n"));
    let attack = Shell::run("/bin/../bin/ls");
    assert_refused(policy(script("true")), attack, "program_not_allowed").await;
}

#[tokio::test]
async fn an_allowed_path_that_becomes_a_link_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = folder.path().join("tool");
    std::fs::write(&tool, "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).expect("executable");
    let policy = policy(Program::at(&tool));
    std::fs::remove_file(&tool).expect("removed");
    symlink("/bin/sh", &tool).expect("a link");
    let job = Shell::run(tool.to_str().expect("text"));
    assert_refused(policy, job, "program_not_allowed").await;
}

#[tokio::test]
async fn an_allowed_directory_that_becomes_a_link_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bin, evil) = (folder.path().join("bin"), folder.path().join("evil"));
    for folder in [&bin, &evil] {
        std::fs::create_dir(folder).expect("a folder");
        std::fs::write(folder.join("tool"), "#!/bin/sh\n").expect("written");
        let mode = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.join("tool"), mode).expect("executable");
    }
    let policy = policy(Program::at(bin.join("tool")));
    std::fs::remove_dir_all(&bin).expect("removed");
    symlink(&evil, &bin).expect("a link");
    let job = Shell::run(bin.join("tool").to_str().expect("text"));
    assert_refused(policy, job, "program_not_allowed").await;
}

/// The name of the link is not passed on, because some programs act by the name under which they are called.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_link_to_an_allowed_program_runs_it_under_its_resolved_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("rbash");
    symlink("/bin/sh", &link).expect("a link");
    let job = Shell::run(link.to_str().expect("text"));
    let output = run(policy(script("tr '\\0' '\\n' </proc/$$/cmdline")), job).await;
    let stdout = output.expect("the same program").stdout;
    let called = stdout.complete().and_then(|lines| lines.lines().next());
    assert_eq!(called, resolved("/bin/sh").to_str());
}

#[tokio::test]
async fn a_link_to_another_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("sh");
    symlink("/bin/ls", &link).expect("a link");
    let job = Shell::run(link.to_str().expect("text"));
    assert_refused(policy(script("true")), job, "program_not_allowed").await;
}

#[tokio::test]
async fn an_allowed_program_that_is_gone_is_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let tool = resolved(folder.path().to_str().expect("text")).join("tool");
    std::fs::write(&tool, "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).expect("executable");
    let policy = policy(Program::at(&tool));
    let refusals = policy.refusals();
    std::fs::remove_file(&tool).expect("removed");
    let job = Shell::run(tool.to_str().expect("text"));
    let envelope = run(policy, job).await.expect_err("fails");
    assert_eq!((envelope.attempts, refusals.total()), (2, 0), "{}", envelope.failure.message);
}
