//! Policies that cannot be built.

use std::os::unix::fs::PermissionsExt;

use ratchet_extras::shell::{Program, ShellPolicy, ShellPolicyError};

fn refused(program: Program) -> ShellPolicyError {
    ShellPolicy::builder().program(program).build().expect_err("refused")
}

#[test]
fn a_program_must_be_an_executable_file_at_an_absolute_path() {
    assert!(matches!(refused(Program::at("ls")), ShellPolicyError::RelativePath { .. }));
    assert!(matches!(refused(Program::at("/no/such")), ShellPolicyError::Unreadable { .. }));
    assert!(matches!(refused(Program::at("/bin")), ShellPolicyError::NotExecutable { .. }));
    assert!(matches!(refused(Program::at("/etc/passwd")), ShellPolicyError::NotExecutable { .. }));
}

#[test]
fn an_interpreter_must_be_allowed_as_such() {
    for path in ["/bin/sh", "/usr/bin/env"] {
        assert!(
            matches!(refused(Program::at(path)), ShellPolicyError::Interpreter { .. }),
            "{path}"
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("harmless");
    std::os::unix::fs::symlink("/bin/sh", &link).expect("a link");
    assert!(matches!(refused(Program::at(link)), ShellPolicyError::Interpreter { .. }));
}

#[test]
fn a_program_that_every_user_can_replace_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bin, tool) = (folder.path().join("bin"), folder.path().join("bin/tool"));
    std::fs::create_dir(&bin).expect("a folder");
    std::fs::write(&tool, "#!/bin/sh\n").expect("written");
    let set = |path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
    set(&tool, 0o757).expect("set");
    assert!(matches!(refused(Program::at(&tool)), ShellPolicyError::WritableByAll { .. }));
    set(&tool, 0o755).expect("set");
    set(&bin, 0o777).expect("set");
    assert!(matches!(refused(Program::at(&tool)), ShellPolicyError::WritableByAll { .. }));
    set(&bin, 0o1777).expect("set");
    assert!(ShellPolicy::builder().program(Program::at(&tool)).build().is_ok(), "sticky");
}

#[test]
fn two_rules_for_one_program_are_refused() {
    let builder = ShellPolicy::builder().program(Program::at("/bin/ls"));
    let error = builder.program(Program::at("/bin/../bin/ls")).build().expect_err("refused");
    assert!(matches!(error, ShellPolicyError::Duplicate { .. }), "{error}");
}

#[test]
fn the_working_directory_must_be_a_directory() {
    let with = |path: &str| {
        ShellPolicy::builder().program(Program::at("/bin/ls")).working_dir(path).build()
    };
    assert!(matches!(with("here"), Err(ShellPolicyError::RelativePath { .. })));
    assert!(matches!(with("/no/such"), Err(ShellPolicyError::Unreadable { .. })));
    assert!(matches!(with("/bin/ls"), Err(ShellPolicyError::NotADirectory { .. })));
}

#[tokio::test]
async fn a_worker_without_a_policy_does_not_start() {
    use ratchet::{Job as _, MemoryStore, Ratchet, StartError};
    use ratchet_extras::shell::Shell;

    let builder = Ratchet::builder(MemoryStore::new()).jobs([Shell::JOB]);
    let error = builder.build().await.expect("built").start().await.expect_err("no policy");
    assert!(matches!(error, StartError::MissingStates(_)), "{error}");
}
