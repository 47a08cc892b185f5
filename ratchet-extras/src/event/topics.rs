//! [`Topics`]: the topics of this process and their subscribers.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;

use ratchet_core::JobContext;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::EventRefusal;
use crate::Refusals;

/// The topics to which the job `ratchet.event` may publish, and their subscribers. Without configuration, none.
///
/// Register it with `.state(topics)`. A worker that knows the job does not start without it.
#[derive(Debug)]
pub struct Topics {
    topics: BTreeMap<String, Topic>,
    refusals: Refusals,
}

#[derive(Debug, Default)]
struct Topic {
    no_subscriber: NoSubscriber,
    subscribers: Vec<Subscriber>,
}

struct Subscriber {
    name: String,
    prepare: Box<Prepare>,
}

/// Decodes a payload, and returns the call that is not yet begun.
type Prepare = dyn Fn(&JobContext, &Value) -> Result<Call, serde_json::Error> + Send + Sync;
type Call = Pin<Box<dyn Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send>>;

/// What an event means whose topic is declared, but has no subscriber in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NoSubscriber {
    /// The event is refused: its job fails as `invalid`.
    #[default]
    Refuse,
    /// The event is accepted: its job succeeds and nothing else happens.
    Accept,
    /// The event is left for another process: its job returns to its queue without using an attempt.
    ///
    /// The job counts as deferred, and this process claims nothing from that queue for a short, growing time. Events of
    /// such topics should have a queue of their own.
    Leave,
}

/// What is to be done with an event.
pub(super) enum Admission {
    /// Call these subscribers, in this order.
    Calls(Vec<(String, Call)>),
    /// Nothing; the job succeeds.
    Accepted,
    /// Nothing; another process may have subscribers.
    Left,
}

/// Builds [`Topics`]. What is not declared here is refused.
#[derive(Debug, Default)]
#[must_use = "nothing is declared until `.build()`"]
pub struct TopicsBuilder {
    topics: BTreeMap<String, Topic>,
    error: Option<TopicsError>,
}

/// Why [`Topics`] cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopicsError {
    /// The name of a topic or of a subscriber is empty.
    #[error("the name of a topic or of a subscriber must not be empty")]
    EmptyName,
    /// Two subscribers of one topic have the same name.
    #[error(
        "the topic `{topic}` has two subscribers called `{subscriber}`; names must differ, because the checkpoint records them"
    )]
    Duplicate {
        /// The topic.
        topic: String,
        /// The name of both subscribers.
        subscriber: String,
    },
}

impl Topics {
    /// Starts building topics. None is declared.
    pub fn builder() -> TopicsBuilder {
        TopicsBuilder::default()
    }

    /// Returns the counter of refused jobs.
    pub fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    /// Decodes the payload for every subscriber, or refuses the event.
    pub(super) fn admit(
        &self,
        ctx: &JobContext,
        name: &str,
        payload: &Value,
    ) -> Result<Admission, EventRefusal> {
        let Some(topic) = self.topics.get(name) else {
            let topic = name.chars().take(200).collect();
            return Err(EventRefusal::TopicNotAllowed { topic });
        };
        if topic.subscribers.is_empty() {
            return match topic.no_subscriber {
                NoSubscriber::Refuse => Err(EventRefusal::NoSubscriber { topic: name.to_owned() }),
                NoSubscriber::Accept => Ok(Admission::Accepted),
                NoSubscriber::Leave => Ok(Admission::Left),
            };
        }
        let call = |subscriber: &Subscriber| match (subscriber.prepare)(ctx, payload) {
            Ok(call) => Ok((subscriber.name.clone(), call)),
            Err(source) => {
                let (topic, subscriber) = (name.to_owned(), subscriber.name.clone());
                Err(EventRefusal::BadPayload { topic, subscriber, source })
            }
        };
        let calls = topic.subscribers.iter().map(call).collect::<Result<_, _>>()?;
        Ok(Admission::Calls(calls))
    }
}

impl TopicsBuilder {
    /// Declares a topic, and what an event without a subscriber means.
    pub fn topic(mut self, topic: impl Into<String>, no_subscriber: NoSubscriber) -> Self {
        let topic = topic.into();
        self.check(topic.is_empty().then_some(TopicsError::EmptyName));
        self.topics.entry(topic).or_default().no_subscriber = no_subscriber;
        self
    }

    /// Declares a topic and registers a subscriber. Subscribers are called in the order of their registration.
    ///
    /// The name must stay the same while events are stored: it records which subscribers have received an event. The
    /// error can be any standard error, a text, or a directive such as `fatal`.
    pub fn subscribe<T, E, F, Fut>(
        mut self,
        topic: impl Into<String>,
        name: impl Into<String>,
        subscriber: F,
    ) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Fn(JobContext, T) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
    {
        let (topic, name) = (topic.into(), name.into());
        self.check((topic.is_empty() || name.is_empty()).then_some(TopicsError::EmptyName));
        let subscribers = &mut self.topics.entry(topic.clone()).or_default().subscribers;
        if subscribers.iter().any(|other| other.name == name) {
            self.check(Some(TopicsError::Duplicate { topic, subscriber: name }));
            return self;
        }
        let prepare = move |ctx: &JobContext, payload: &Value| {
            let call = subscriber(ctx.clone(), T::deserialize(payload)?);
            Ok(Box::pin(async move { call.await.map_err(Into::into) }) as Call)
        };
        subscribers.push(Subscriber { name, prepare: Box::new(prepare) });
        self
    }

    /// Builds the topics.
    pub fn build(self) -> Result<Topics, TopicsError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Topics { topics: self.topics, refusals: Refusals::default() }),
        }
    }

    /// Keeps the first error.
    fn check(&mut self, error: Option<TopicsError>) {
        self.error = self.error.take().or(error);
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscriber").field(&self.name).finish()
    }
}
