//! The worker program of the Kubernetes example: the commands of `ratchet`, and one job that can take a while.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ratchet::prelude::*;

/// Prints a label, as soon as the printer is ready: when the file that `SHOP_PRINTER` names exists.
#[job(name = "shop.print_label", queue = "labels")]
async fn print_label(order: u64) -> String {
    let printer = std::env::var_os("SHOP_PRINTER").map(PathBuf::from);
    while printer.as_ref().is_some_and(|file| !file.exists()) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    format!("the label of order {order}")
}

fn main() -> ExitCode {
    // The store is `RATCHET_STORE`. Other settings are `RATCHET_…` variables, too.
    ratchet_cli::Program::new(async |builder| Ok(builder)).main()
}
