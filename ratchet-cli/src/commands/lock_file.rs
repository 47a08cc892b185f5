//! Reads a lock file.

use std::fs;
use std::path::Path;

use ratchet_contract::Contract;

use crate::exit::{ExitStatus, Failure};

pub(super) fn read(path: &Path) -> Result<Contract, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        let problem = format!(
            "cannot read {}: {error}; `ratchet::lock_test!()` and `RATCHET_LOCK=update cargo test` write it",
            path.display()
        );
        Failure::new(ExitStatus::NotFound, problem)
    })?;
    text.parse()
        .map_err(|error| Failure::new(ExitStatus::Refused, format!("{}: {error}", path.display())))
}
