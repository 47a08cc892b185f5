//! `#[serde(with = "module")]` on an argument: the module writes and reads the stored value.
use std::time::Duration;

use ratchet::{__private, job};

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
    let _ = (time, more);
}

#[test]
fn runs() {
    let job = Wait::new(Duration::from_secs(90), Duration::from_secs(1));
    let stored = __private::encode(&job).unwrap();
    assert_eq!(String::from_utf8(stored.clone()).unwrap(), r#"{"time":90,"more":1}"#);
    assert_eq!(__private::decode::<Wait>(&stored).unwrap(), job);
}
