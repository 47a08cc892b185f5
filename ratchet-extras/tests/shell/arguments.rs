//! Attacks through arguments.

use ratchet_extras::shell::{Shell, ShellPolicy};

use super::{assert_refused, policy, run, script};

/// Prints each argument in brackets.
const ECHO: &str = "printf '[%s]' \"$@\"";

#[tokio::test]
async fn metacharacters_of_a_shell_are_passed_as_they_are() {
    for attack in [
        "; touch /tmp/owned",
        "$(touch /tmp/owned)",
        "`touch /tmp/owned`",
        "| sh",
        "&& sh",
        "> /tmp/owned",
        "a\nb",
        "\"; sh; \"",
        "'",
        "*",
        "~",
        "${HOME}",
        "\\",
        "%s",
        "",
    ] {
        let output = run(policy(script(ECHO)), Shell::run("/bin/sh").arg(attack)).await;
        let output = output.expect("the argument is only data");
        assert_eq!(output.stdout.complete(), Some(format!("[{attack}]").as_str()));
    }
}

#[tokio::test]
async fn one_argument_stays_one_argument() {
    let job = Shell::run("/bin/sh").args(["a b", "c\td", "e"]);
    let output = run(policy(script(ECHO)), job).await.expect("succeeds");
    assert_eq!(output.stdout.complete(), Some("[a b][c\td][e]"));
}

#[tokio::test]
async fn a_leading_dash_is_refused_unless_the_option_is_allowed() {
    for attack in ["-rf", "--exec=sh", "--", "-", "-o/tmp/owned", "--verbose-x"] {
        let job = Shell::run("/bin/sh").args(["ok", attack]);
        let policy = policy(script(ECHO).option("--verbose"));
        assert_refused(policy, job, "option_not_allowed").await;
    }
    let job = Shell::run("/bin/sh").args(["--verbose", "--verbose=2"]);
    let output = run(policy(script(ECHO).option("--verbose")), job).await.expect("succeeds");
    assert_eq!(output.stdout.complete(), Some("[--verbose][--verbose=2]"));
}

#[tokio::test]
async fn a_nul_is_refused() {
    for job in [
        Shell::run("/bin/sh").arg("a\0b"),
        Shell::run("/bin/sh\0"),
        Shell::run("/bin/sh").env("A\0", "b"),
        Shell::run("/bin/sh").env("A", "b\0"),
    ] {
        assert_refused(policy(script(ECHO)), job, "nul").await;
    }
}

#[tokio::test]
async fn too_many_and_too_long_arguments_are_refused() {
    let limited = || ShellPolicy::builder().program(script(ECHO)).max_arguments(2, 10).build();
    let many = Shell::run("/bin/sh").args(["a", "b", "c"]);
    assert_refused(limited().expect("a policy"), many, "too_many_arguments").await;
    let long = Shell::run("/bin/sh").arg("01234567890");
    assert_refused(limited().expect("a policy"), long, "too_many_arguments").await;
    let fits = Shell::run("/bin/sh").args(["01234", "56789"]);
    assert!(run(limited().expect("a policy"), fits).await.is_ok());
}

#[tokio::test]
async fn a_refusal_does_not_show_the_arguments() {
    let policy = policy(script(ECHO));
    let job = Shell::run("/bin/sh").arg("--password=hunter2").env("TOKEN", "hunter2");
    assert!(!format!("{job:?}").contains("TOKEN"), "variables are secret: {job:?}");
    let envelope = run(policy, job).await.expect_err("refused");
    assert!(!envelope.failure.message.contains("hunter2"), "{}", envelope.failure.message);
}
