//! The job `ratchet.event`: publishes an event to the subscribers of an allowed topic.
//!
//! A topic and its subscribers are functions of this process, which are given to [`Topics`] before the worker starts. The
//! event itself is durable: it is a job. Each subscriber is called until it has succeeded once. A subscriber that has
//! succeeded is recorded in the checkpoint of the job and is not called again when another one fails.
//!
//! ```
//! use ratchet::testing::Sandbox;
//! use ratchet::Job;
//! use ratchet_extras::event::{Event, Topics};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Shipped { order: u64 }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let topics = Topics::builder()
//!     .subscribe("order.shipped", "mailer", async |_ctx, shipped: Shipped| {
//!         println!("order {} is on its way", shipped.order);
//!         Ok::<(), std::io::Error>(())
//!     })
//!     .build()?;
//!
//! let sandbox = Sandbox::builder().jobs([Event::JOB]).state(topics).build().await?;
//! let published = sandbox.enqueue(Event::publish("order.shipped", &Shipped { order: 7 })?).await?;
//! sandbox.drain().await?;
//! assert_eq!(published.wait().await?.subscribers, ["mailer"]);
//! # Ok(())
//! # }
//! ```
//!
//! # What is refused
//!
//! A topic that is not declared, a payload that one of the subscribers cannot read, and, by default, an event without a
//! subscriber. In all of these cases no subscriber is called.
//!
//! # Without a subscriber
//!
//! A topic can be declared without subscribers, for example in a process that serves other topics. [`NoSubscriber`] says
//! what an event of such a topic means: it is refused, accepted, or left for another process.
//!
//! # Failures
//!
//! All subscribers are called in the order of their registration, also after one has failed. If several have failed, the
//! outcome of the run is the error of the first one that can be retried, or of the first one if none can. The others are
//! warnings in the log of the job.

mod refusal;
mod topics;

use std::collections::BTreeSet;
use std::sync::Arc;

use ratchet_core::{Directive, HandlerError, JobContext, JobError, State, reject};
use ratchet_macros::job;
use serde::{Deserialize, Serialize};

pub use self::refusal::EventRefusal;
use self::topics::Admission;
pub use self::topics::{NoSubscriber, Topics, TopicsBuilder, TopicsError};

/// The output of the job `ratchet.event`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Published {
    /// The names of the subscribers that have received the event, in the order of their registration.
    pub subscribers: Vec<String>,
}

/// Publishes an event to the subscribers of a topic that [`Topics`] allows. The stored name of the job is
/// `ratchet.event`.
///
/// See the [module](self) for what is refused and what a failed subscriber means.
#[job(name = "ratchet.event", derive(Debug, Clone, PartialEq), crate = ::ratchet_core)]
pub async fn event(
    #[inject] ctx: JobContext,
    #[inject] topics: State<Topics>,
    /// The topic.
    topic: String,
    /// The event.
    #[job(default)]
    payload: serde_json::Value,
) -> Result<Published, JobError> {
    let calls = match topics.admit(&ctx, &topic, &payload) {
        Ok(Admission::Calls(calls)) => calls,
        Ok(Admission::Accepted) => return Ok(Published::default()),
        Ok(Admission::Left) => {
            return Err(reject(format!("`{topic}` has no subscriber in this process")).into());
        }
        Err(refusal) => return Err(topics.refusals().refuse(&ctx, refusal)),
    };
    let mut done: BTreeSet<String> = ctx.checkpoint()?.unwrap_or_default();
    let mut published = Published::default();
    let mut failed: Option<Arc<SubscriberError>> = None;
    for (subscriber, call) in calls {
        published.subscribers.push(subscriber.clone());
        if done.contains(&subscriber) {
            continue;
        }
        match call.await {
            Ok(()) => {
                done.insert(subscriber);
                ctx.set_checkpoint(&done)?;
            }
            Err(source) => {
                ctx.warn(format!("the subscriber `{subscriber}` has failed: {source}"));
                let topic = topic.clone();
                let error = Arc::new(SubscriberError { topic, subscriber, source });
                let is_better = |first| is_permanent(first) && !is_permanent(&error);
                if failed.as_ref().is_none_or(is_better) {
                    failed = Some(error);
                }
            }
        }
    }
    match failed {
        None => Ok(published),
        Some(error) => Err(error.into()),
    }
}

/// A subscriber has failed.
#[derive(Debug, thiserror::Error)]
#[error("the subscriber `{subscriber}` of `{topic}` has failed")]
#[non_exhaustive]
pub struct SubscriberError {
    /// The topic of the event.
    pub topic: String,
    /// The name of the subscriber.
    pub subscriber: String,
    /// The error of the subscriber. A directive in it, such as `fatal`, applies to the job.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Returns `true` if another attempt is pointless.
fn is_permanent(error: &Arc<SubscriberError>) -> bool {
    let error = HandlerError::typed(Arc::clone(error));
    let directive = error.find::<Directive>();
    matches!(directive, Some(Directive::Fatal { .. } | Directive::Invalid { .. }))
        || error.permanent_reason().is_some()
}

impl Event {
    /// Creates an event. The payload is stored as JSON.
    ///
    /// ```
    /// # async fn demo(ratchet: &ratchet::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet_extras::event::Event;
    ///
    /// let shipped = serde_json::json!({ "order": 7 });
    /// ratchet.enqueue(Event::publish("order.shipped", &shipped)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn publish<T: Serialize + ?Sized>(
        topic: impl Into<String>,
        payload: &T,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self { topic: topic.into(), payload: serde_json::to_value(payload)? })
    }
}
