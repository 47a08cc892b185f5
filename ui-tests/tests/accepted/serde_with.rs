//! `#[serde(with = "module")]` on an argument: the module writes and reads the stored value.
use std::time::Duration;

use ratchet::prelude::*;
use ratchet::testing::Sandbox;

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(value.as_secs())
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_secs)
    }
}

#[job(derive(Debug, PartialEq))]
async fn wait(
    #[serde(with = "seconds")] time: Duration,
    #[serde(with = "crate::serde_with::seconds")] more: Duration,
) {
    assert_eq!((time, more), (Duration::from_secs(90), Duration::from_secs(1)));
}

#[tokio::test]
async fn runs() {
    let sandbox = Sandbox::builder().jobs([Wait::JOB]).build().await.unwrap();
    let job = Wait::new(Duration::from_secs(90), Duration::from_secs(1));
    let job = sandbox.enqueue(job).await.unwrap();
    let stored = job.record().await.unwrap().unwrap().spec.payload.clone();
    assert_eq!(String::from_utf8(stored).unwrap(), r#"{"time":90,"more":1}"#);
    sandbox.drain().await.unwrap();
    assert_eq!(job.record().await.unwrap().unwrap().state, JobState::Succeeded);
}
