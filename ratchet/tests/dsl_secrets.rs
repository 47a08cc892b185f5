//! A secret argument is never shown: not by `Debug`, and not by the error of a stored value that does not fit.

use ratchet::{Job as _, JobState, MemoryStore, Ratchet, job};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
enum Token {
    Basic,
}

#[job(derive(Debug, Clone), name = "secrets.login")]
#[allow(clippy::unused_async)] // it awaits nothing
async fn login(user: String, #[job(secret)] password: String) {
    let _ = (user, password);
}

#[job(name = "secrets.call")]
#[allow(clippy::unused_async)] // it awaits nothing
async fn call(#[job(secret)] token: Token) {
    let _ = token;
}

#[test]
fn z_10_debug_does_not_show_a_secret() {
    let login = Login { user: "ada".to_owned(), password: "hunter2".to_owned() };
    assert_eq!(format!("{:?}", login.clone()), r#"Login { user: "ada", password: *** }"#);
    assert!(!format!("{login:#?}").contains("hunter2"));
}

#[tokio::test]
async fn z_10_an_error_does_not_quote_a_secret() {
    let ratchet =
        Ratchet::builder(MemoryStore::new()).jobs([Call::JOB]).build().await.expect("builds");
    let mut row = ratchet.enqueue(Call { token: Token::Basic }).into_new_job().expect("is checked");
    // As an earlier version of the program has stored it.
    row.spec.payload = br#"{"token":"s3cr3t-hunter2"}"#.to_vec();
    let id = row.id;
    ratchet.store().insert(vec![row]).await.expect("inserts");
    let worker = ratchet.start().await.expect("starts");
    let failed = ratchet.handle::<Call>(id).wait().await.expect_err("cannot be decoded");
    worker.stop().await;
    let job = ratchet.jobs().get(id).await.expect("reads").expect("exists");
    assert_eq!(job.state, JobState::Failed);
    let message = job.envelope.expect("is a dead letter").failure.message;
    assert!(message.contains("cannot decode argument `token`"), "{message}");
    for text in [message, failed.to_string(), format!("{failed:?}")] {
        assert!(!text.contains("hunter2"), "{text}");
    }
}
