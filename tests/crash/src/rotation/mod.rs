//! The test of key rotation: keys are rotated and stored content is protected again while jobs are submitted and run, and
//! while processes are killed. No honest job must be refused or lost.

mod crew;
mod keys;
mod large;
mod load;

use std::time::{Duration, Instant};

use crate::Problem;
use crate::address::Kind;
use crate::args::Args;
use crate::server::Server;

pub use self::crew::{reencrypt, submit, work};

/// The time limit of every wait.
const LONGEST: Duration = Duration::from_secs(600);

/// How many rows of the large store are protected again, by default.
const ROWS: u64 = 100_000;

pub async fn run(args: &Args) -> Result<(), Problem> {
    let rounds = args.or("rounds", 5);
    let rows = args.or("rows", ROWS);
    let server = Server::start("", None)?;
    println!(
        "| store | rotations | jobs | killed workers | killed submitters | killed `reencrypt` | runs that were lost | refused | lost |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for kind in Kind::ALL {
        let scene = Scene::new(kind, &server, "load").await?;
        println!("{}", load::play(&scene, rounds).await?);
    }
    println!(
        "\n| store | rows | runs of `reencrypt` | killed | values written | written twice | rows in a second | under old keys |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for kind in Kind::ALL {
        let scene = Scene::new(kind, &server, "large").await?;
        println!("{}", large::play(&scene, rows).await?);
    }
    Ok(())
}

/// A store of its own, and a folder for keys and for what the processes record.
struct Scene {
    kind: Kind,
    address: String,
    folder: tempfile::TempDir,
}

impl Scene {
    async fn new(kind: Kind, server: &Server, name: &str) -> Result<Self, Problem> {
        let folder = tempfile::tempdir()?;
        let address = match kind {
            Kind::Sqlite => folder.path().join("jobs.db").display().to_string(),
            Kind::Pg => {
                let name = format!("rotation_{name}");
                server.say(&format!("CREATE DATABASE {name}")).await?;
                server.url(&name)
            }
        };
        Ok(Self { kind, address, folder })
    }
}

/// Waits until a condition holds.
async fn until(
    what: &str,
    mut holds: impl AsyncFnMut() -> Result<bool, Problem>,
) -> Result<(), Problem> {
    let began = Instant::now();
    while !holds().await? {
        if began.elapsed() > LONGEST {
            return Err(format!("waited {LONGEST:?} in vain: {what}").into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
