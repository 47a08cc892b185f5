//! Help texts, man pages and completions.

use std::fmt::Write as _;
use std::fs;

use super::stored::ratchet;

#[test]
fn o_12_help_texts_are_as_recorded() {
    let mut text = String::new();
    let mut command = ratchet_cli::command().term_width(100);
    command.build();
    describe(&mut command, &mut text);
    insta::assert_snapshot!(text);
}

fn describe(command: &mut clap::Command, text: &mut String) {
    // Options of every command are shown once, at the top.
    if command.get_name() == "ratchet" {
        text.push_str(&command.render_long_help().to_string());
    } else {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, "\n{}\n    {about}\n", command.render_usage());
        for arg in
            command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help")
        {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "    {arg}: {help}");
        }
    }
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        describe(inner, text);
    }
}

#[test]
fn o_12_man_pages_and_completions_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = ratchet(&["man", folder.path().to_str().expect("text")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let pages = fs::read_dir(folder.path()).expect("reads").count();
    assert!(pages > 50, "{pages} pages");
    let page = fs::read_to_string(folder.path().join("ratchet-jobs-retry.1")).expect("a page");
    assert!(page.contains("Retries failed jobs"), "{page}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = ratchet(&["completions", shell]);
        assert!(script.status.success() && script.stdout.len() > 1000, "{shell}");
    }
}
