//! The command line, which `scale` runs as a process of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    ratchet_cli::tool()
}
