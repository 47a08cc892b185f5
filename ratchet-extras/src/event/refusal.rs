//! [`EventRefusal`]: why an event is not published.

use crate::Refusal;

/// Why the job `ratchet.event` refuses to publish an event. The job fails as `invalid`, and no subscriber is called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventRefusal {
    /// The topic is not declared.
    #[error(
        "the topic `{topic}` is not allowed; declare it with `TopicsBuilder::topic` or `subscribe`"
    )]
    TopicNotAllowed {
        /// The topic, shortened.
        topic: String,
    },
    /// The topic is declared, but has no subscriber.
    #[error(
        "the topic `{topic}` has no subscriber in this process; register one, or choose another `NoSubscriber`"
    )]
    NoSubscriber {
        /// The topic.
        topic: String,
    },
    /// A subscriber cannot read the payload.
    #[error("the payload of `{topic}` does not fit its subscriber `{subscriber}`")]
    BadPayload {
        /// The topic.
        topic: String,
        /// The name of the subscriber.
        subscriber: String,
        /// What does not fit.
        source: serde_json::Error,
    },
}

impl EventRefusal {
    /// Returns the name under which the refusal is counted.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::TopicNotAllowed { .. } => "topic_not_allowed",
            Self::NoSubscriber { .. } => "no_subscriber",
            Self::BadPayload { .. } => "bad_payload",
        }
    }
}

impl Refusal for EventRefusal {
    fn reason(&self) -> &'static str {
        Self::reason(self)
    }
}
