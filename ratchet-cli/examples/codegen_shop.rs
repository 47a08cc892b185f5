//! The program whose jobs the generated clients submit: `scripts/proof codegen` starts it as a worker,
//! serves its API and submits the same job from Rust.
//!
//! `codegen_shop submit` enqueues the job in the store of `RATCHET_STORE` and prints its id. Everything
//! else is the command line of a worker program.

use std::process::ExitCode;

use ratchet::PgStore;
use ratchet::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    id: u64,
}

/// Sends one e-mail.
#[job(
    name = "shop.send_email",
    alias = "shop.send_mail",
    version = 2,
    queue = "mail",
    max_retries = 7,
    idempotency_key = "mail-{to}-{subject}-{urgent}"
)]
async fn send_email(
    #[job(alias = "recipient")] to: String,
    subject: String,
    urgent: bool,
    #[job(default = 3)] copies: u8,
    #[job(secret)] token: Option<String>,
) -> Receipt {
    drop((to, subject, token));
    Receipt { id: u64::from(copies) + u64::from(urgent) }
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)] // the script reads it
async fn submit() -> Result<(), Box<dyn std::error::Error>> {
    let store = PgStore::connect(&std::env::var("RATCHET_STORE")?).await?;
    let ratchet = Ratchet::builder(store).build().await?;
    let job = SendEmail {
        to: "ada@example.com".to_owned(),
        subject: "hello".to_owned(),
        urgent: true,
        copies: 3,
        token: None,
    };
    println!("{}", ratchet.enqueue(job).await?.id());
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("submit") {
        return match submit() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    ratchet_cli::Program::new(async |builder| Ok(builder)).main()
}
