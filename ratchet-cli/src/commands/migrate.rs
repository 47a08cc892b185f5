//! `ratchet migrate …`

use crate::args::{Global, Migrate};
use crate::confirm::confirm;
use crate::context::Selected;
use crate::exit::Failure;
use crate::output::Output;

pub(crate) async fn run(
    selected: &Selected,
    command: &Migrate,
    global: &Global,
) -> Result<(), Failure> {
    match command {
        Migrate::Status => {
            selected.target.open().await?;
            let text =
                format!("the tables of {} are those that this program needs\n", selected.target);
            Output::new(global).print(&text)
        }
        Migrate::Up if global.dry_run => {
            match selected.target.open().await {
                Ok(_) => {
                    eprintln!("nothing to do: the tables of {} are up to date", selected.target);
                }
                Err(problem) => eprintln!("would create or update the tables: {problem}"),
            }
            Ok(())
        }
        Migrate::Up => {
            if selected.production {
                confirm(selected, "create or update the tables", global.yes)?;
            }
            selected.target.migrate().await?;
            eprintln!("the tables of {} are up to date", selected.target);
            Ok(())
        }
    }
}
