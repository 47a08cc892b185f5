//! The program `ratchet`. It knows no jobs of its own; see [`ratchet_cli::Program`] for a program that does.

use std::process::ExitCode;

fn main() -> ExitCode {
    ratchet_cli::tool()
}
