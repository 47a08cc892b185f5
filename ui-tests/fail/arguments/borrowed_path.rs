use ratchet::job;

use std::path::Path;

#[job]
async fn read(file: &Path) {
    let _ = file;
}

fn main() {}
