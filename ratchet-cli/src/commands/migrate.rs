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
            let text = format!("this program can use the tables of {}\n", selected.target);
            Output::new(global).print(&text)
        }
        Migrate::Grants { role, to, apply } => grants(selected, role, to, *apply, global).await,
        Migrate::Sql => script(selected, global).await,
        Migrate::Up if global.dry_run => script(selected, global).await,
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

/// Prints the statements that are missing.
async fn script(selected: &Selected, global: &Global) -> Result<(), Failure> {
    match selected.target.migration_script().await? {
        Some(script) => Output::new(global).print(&script),
        None => {
            eprintln!("nothing to do: the tables of {} are up to date", selected.target);
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
