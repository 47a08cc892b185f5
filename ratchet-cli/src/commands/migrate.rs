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
        Migrate::Grants { role, to, apply } => grants(selected, role, to, *apply, global).await,
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

/// Prints the rights of a role, or gives them to a user.
#[cfg(feature = "postgres")]
async fn grants(
    selected: &Selected,
    role: &str,
    user: &str,
    apply: bool,
    global: &Global,
) -> Result<(), Failure> {
    let role: ratchet_pg::DatabaseRole =
        role.parse().map_err(|error| Failure::usage(format!("`{role}`: {error}")))?;
    let options = selected.target.postgres()?;
    if !apply || global.dry_run {
        let statements = options.grants(role, user).join(";\n");
        return Output::new(global).print(&format!("{statements};\n"));
    }
    if selected.production {
        confirm(selected, &format!("give {user} the rights to {role}"), global.yes)?;
    }
    options.grant(role, user).await?;
    eprintln!("{user} has the rights to {role} in {}", selected.target);
    Ok(())
}

#[cfg(not(feature = "postgres"))]
async fn grants(_: &Selected, _: &str, _: &str, _: bool, _: &Global) -> Result<(), Failure> {
    Err(Failure::usage("this program was built without support for PostgreSQL"))
}
