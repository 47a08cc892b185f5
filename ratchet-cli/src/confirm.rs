//! Questions before changes.

use std::io::{self, IsTerminal, Write};

use crate::commands::Session;
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
        let asks = final_ || self.selected.production;
        if !asks || self.yes {
            return Ok(true);
        }
        if !io::stdin().is_terminal() {
            return Err(Failure::refused(format!(
                "will not {change} without confirmation; add `--yes`"
            )));
        }
        let context = self
            .selected
            .context
            .as_ref()
            .map_or_else(String::new, |name| format!(" (context {name})"));
        eprint!("target  {}{context}\n{change}? [y/N] ", self.selected.target);
        io::stderr().flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        if matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(true);
        }
        Err(Failure::refused("nothing was changed"))
    }
}
