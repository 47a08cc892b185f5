//! Questions before changes.

use std::io::{self, IsTerminal, Write};

use crate::commands::Session;
use crate::context::Selected;
use crate::exit::Failure;

impl Session {
    /// Announces a change. Returns `false` with `--dry-run`. Asks before a change in a production context, and before
    /// one that cannot be undone; `--yes` answers.
    ///
    /// Without a terminal there is no one to answer, so such a change needs `--yes`.
    pub(crate) fn proceed(&self, change: &str, final_: bool) -> Result<bool, Failure> {
        if self.dry_run {
            eprintln!("would {change} in {}", self.selected.target);
            return Ok(false);
        }
        if final_ || self.selected.production {
            confirm(&self.selected, change, self.yes)?;
        }
        Ok(true)
    }
}

/// Asks before a change; `yes` answers.
pub(crate) fn confirm(selected: &Selected, change: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::refused(format!(
            "will not {change} without confirmation; add `--yes`"
        )));
    }
    let context =
        selected.context.as_ref().map_or_else(String::new, |name| format!(" (context {name})"));
    eprint!("target  {}{context}\n{change}? [y/N] ", selected.target);
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure::refused("nothing was changed"))
}
