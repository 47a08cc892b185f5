//! A callback gets no arguments, so each of its own must be injected, optional, or have a default.
use ratchet::{Finished, job};

#[job(on_success = Report, on_failure = Report)]
async fn count() -> u32 {
    1
}

#[job]
async fn report(#[inject] job: Finished<Count>, note: Option<String>, #[job(default)] copies: u32) {
    drop((job, note, copies));
}
