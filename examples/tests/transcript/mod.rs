//! Transcripts on pages of the site: commands of a shell, and what they print. Tests run the commands again.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A file in `expected` that is being played. A line that begins with `$ ` is a command.
pub struct Transcript {
    file: PathBuf,
    folder: PathBuf,
    commands: VecDeque<String>,
    printed: String,
    /// A text of this run, and what the page shows instead.
    shown: Vec<(String, String)>,
}

impl Transcript {
    /// Reads a transcript, whose commands are run in an empty folder. The programs of the examples are on the path.
    pub fn read(name: &str) -> Self {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("expected").join(format!("{name}.console"));
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("transcript-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let commands = text.lines().filter_map(|line| line.strip_prefix("$ ").map(str::to_owned));
        let commands = commands.collect();
        Self { file, folder, commands, printed: String::new(), shown: Vec::new() }
    }

    /// The folder of the commands.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// From now on, a command with `instead` gets `text`. The page shows `instead` wherever `text` was printed.
    pub fn show(&mut self, text: &str, instead: &str) {
        self.shown.push((text.to_owned(), instead.to_owned()));
    }

    /// Runs the next command, which must succeed. Returns its standard output.
    pub fn play(&mut self, environment: &[(&str, &str)]) -> String {
        let command = self.commands.pop_front().expect("the transcript has another command");
        let real = self
            .shown
            .iter()
            .fold(command.clone(), |command, (text, instead)| command.replace(instead, text));
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(&real).current_dir(&self.folder).env("PATH", programs());
        let output = shell.envs(environment.iter().copied()).output().expect("bash starts");
        let printed = String::from_utf8(output.stdout).expect("text");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{real}\n{printed}\n{errors}");
        let _ = writeln!(self.printed, "$ {command}\n{}\n", printed.trim_end());
        printed
    }

    /// Compares what was printed with the file. `RATCHET_TRANSCRIPT=1` writes the file.
    pub fn compare(self) {
        assert!(self.commands.is_empty(), "not run: {:?}", self.commands);
        let printed = self
            .shown
            .iter()
            .fold(self.printed, |printed, (text, instead)| printed.replace(text, instead));
        let printed = printed.replace("\n\n\n", "\n\n");
        if std::env::var_os("RATCHET_TRANSCRIPT").is_some() {
            std::fs::write(&self.file, printed.trim_end().to_owned() + "\n").expect("writes");
            return;
        }
        let expected = std::fs::read_to_string(&self.file).expect("the transcript");
        assert_eq!(printed.trim_end(), expected.trim_end(), "RATCHET_TRANSCRIPT=1 writes it");
    }
}

/// Returns the path on which the programs of the examples are found first.
fn programs() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_quickstart")).parent().expect("a folder");
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// Waits until a condition holds. Fails after a minute.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Requests an address, and returns the status and the body.
pub fn get(address: &str, curl: &[&str]) -> (String, String) {
    let mut command = Command::new("curl");
    command.args(["-s", "-w", "\n%{http_code}"]).args(curl).arg(address);
    let output = command.output().expect("curl starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let (body, status) = text.rsplit_once('\n').unwrap_or_default();
    (status.to_owned(), body.to_owned())
}
