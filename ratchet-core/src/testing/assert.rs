//! [`assert_enqueued!`](crate::assert_enqueued) and the places it can look for jobs.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;

use super::Sandbox;
use crate::client::{Ratchet, masked_arguments};
use crate::job::JobContext;
use crate::job::{Encoder, Job};
use ratchet_store::model::{Due, Filter, JobState, PageRequest};

/// A place where jobs are enqueued: a [`Ratchet`], a [`Sandbox`] or the [`JobContext`] of a bare function.
///
/// This trait is sealed.
pub trait Enqueued: sealed::Sealed {
    /// Returns every pending job.
    fn waiting(&self) -> impl Future<Output = Vec<EnqueuedJob>>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Ratchet {}
    impl Sealed for super::Sandbox {}
    impl Sealed for super::JobContext {}
    impl<T: super::Enqueued> Sealed for &T {}
}

/// A pending job, as [`assert_enqueued!`](crate::assert_enqueued) sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EnqueuedJob {
    /// The stored name of the job.
    pub name: String,
    /// The arguments as JSON.
    pub payload: Vec<u8>,
    /// The queue of the job.
    pub queue: String,
    /// The time between the submission of the job and its first run.
    pub delay: Duration,
    /// The arguments for display, without secret ones.
    pub shown: String,
}

impl Enqueued for Ratchet {
    async fn waiting(&self) -> Vec<EnqueuedJob> {
        let filter = Filter::any().state(JobState::Pending).oldest_first();
        let page = PageRequest { before: None, limit: 10_000 };
        let jobs = self.jobs().list(&filter, page).await.map(|page| page.jobs).unwrap_or_default();
        let shown = |job: ratchet_store::model::JobRecord| EnqueuedJob {
            name: job.spec.name.clone(),
            payload: job.spec.payload.clone(),
            queue: job.spec.queue.clone(),
            delay: Duration::try_from(job.due.duration_since(job.queued_at)).unwrap_or_default(),
            shown: masked_arguments(&self.core, &job.spec).to_string(),
        };
        jobs.into_iter().map(shown).collect()
    }
}

impl<T: Enqueued> Enqueued for &T {
    fn waiting(&self) -> impl Future<Output = Vec<EnqueuedJob>> {
        (**self).waiting()
    }
}

impl Enqueued for Sandbox {
    async fn waiting(&self) -> Vec<EnqueuedJob> {
        self.ratchet().waiting().await
    }
}

impl Enqueued for JobContext {
    async fn waiting(&self) -> Vec<EnqueuedJob> {
        let now = self.core().clock.now();
        let shown = |job: ratchet_store::model::NewJob| EnqueuedJob {
            delay: match job.due {
                Due::In(delay) => delay,
                due => Duration::try_from(due.at(now).duration_since(now)).unwrap_or_default(),
            },
            shown: masked_arguments(self.core(), &job.spec).to_string(),
            name: job.spec.name,
            payload: job.spec.payload,
            queue: job.spec.queue,
        };
        self.enqueued().into_iter().map(shown).collect()
    }
}

/// What a job must be like.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Expected {
    /// The whole arguments.
    pub payload: Option<Vec<u8>>,
    /// Some arguments.
    pub fields: Vec<(&'static str, serde_json::Value)>,
    pub count: Option<usize>,
    pub queue: Option<String>,
    pub delay: Option<Duration>,
}

impl Expected {
    /// Expects exactly these arguments.
    ///
    /// # Panics
    ///
    /// Panics if the arguments cannot be serialized.
    pub fn job<J: Job>(job: &J) -> Self {
        let mut args = Encoder::new();
        job.encode(&mut args);
        let payload = args.finish().unwrap_or_else(|error| panic!("{error}"));
        Self { payload: Some(payload), ..Self::default() }
    }

    fn fits(&self, job: &EnqueuedJob) -> bool {
        let whole = self.payload.as_ref().is_none_or(|payload| *payload == job.payload);
        let json = serde_json::from_slice(&job.payload).unwrap_or(serde_json::Value::Null);
        whole
            && self.fields.iter().all(|(name, value)| json.get(*name) == Some(value))
            && self.queue.as_ref().is_none_or(|queue| *queue == job.queue)
            && self.delay.is_none_or(|delay| delay == job.delay)
    }
}

/// Returns an expected argument. The function shows that the job has this argument.
///
/// # Panics
///
/// Panics if the value cannot be serialized.
#[doc(hidden)]
pub fn field<J, T: ?Sized>(
    name: &'static str,
    _: fn(&J) -> &T,
    value: &(impl Serialize + ?Sized),
) -> (&'static str, serde_json::Value) {
    (name, serde_json::to_value(value).unwrap_or_else(|error| panic!("`{name}`: {error}")))
}

/// Returns an error message if no such job is pending, or not as many as expected.
#[doc(hidden)]
pub async fn check_enqueued<J: Job>(
    place: &impl Enqueued,
    expected: Expected,
    text: &str,
) -> Result<(), String> {
    let waiting = place.waiting().await;
    let found = waiting.iter().filter(|job| job.name == J::DEF.name && expected.fits(job)).count();
    if expected.count.map_or(found > 0, |count| count == found) {
        return Ok(());
    }
    let wanted =
        expected.count.map_or("no".to_owned(), |count| format!("{found} instead of {count}"));
    let mut message = format!("{wanted} job `{}` waits like {text}; ", J::DEF.name);
    if waiting.is_empty() {
        message.push_str("nothing waits");
    } else {
        message.push_str("these do:");
        for EnqueuedJob { name, shown, queue, delay, .. } in waiting {
            let _ = write!(message, "\n  `{name}` {shown} in queue `{queue}`");
            if !delay.is_zero() {
                let _ = write!(message, " after {delay:?}");
            }
        }
    }
    Err(message)
}

/// Asserts that a job is pending.
///
/// Takes a [`Sandbox`](crate::testing::Sandbox), a [`Ratchet`](crate::Ratchet) or the [`JobContext`](crate::JobContext)
/// that a bare function was called with, and a job: with all of its arguments, or with some of them and `..`. `count`,
/// `queue` and `delay` can follow, in this order. Must be used inside an async function. If the assertion fails, it
/// lists what is pending, without secret arguments.
///
/// ```
/// # mod ratchet { pub use ratchet_core::testing; pub use ratchet_core::assert_enqueued; }
/// use std::time::Duration;
/// use ratchet::assert_enqueued;
/// use ratchet::testing::Sandbox;
/// use ratchet_macros::job;
///
/// #[job(crate = ::ratchet_core)]
/// async fn send_email(to: String, subject: String) {
///     let _ = (to, subject);
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = Sandbox::builder().jobs([<SendEmail as ratchet_core::Job>::JOB]).build().await?;
/// let email = SendEmail { to: "ada@example.com".into(), subject: "hello".into() };
/// sandbox.enqueue(email).queue("mail").delay(Duration::from_secs(60)).await?;
/// assert_enqueued!(sandbox, SendEmail { to: "ada@example.com".into(), subject: "hello".into() });
/// assert_enqueued!(sandbox, SendEmail { to: "ada@example.com", .. });
/// assert_enqueued!(sandbox, SendEmail { .. }, count = 1, queue = "mail", delay = Duration::from_secs(60));
/// assert_enqueued!(sandbox, SendEmail { to: "bob@example.com", .. }, count = 0);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! assert_enqueued {
    ($place:expr, $job:ident { $($field:ident : $value:expr,)* .. }
        $(, count = $count:expr)? $(, queue = $queue:expr)? $(, delay = $delay:expr)? $(,)?) => {{
        #[allow(unused_mut)]
        let mut expected = $crate::testing::Expected::default();
        $(
            let field = $crate::testing::field(
                ::std::stringify!($field), |job: &$job| &job.$field, &$value,
            );
            expected.fields.push(field);
        )*
        $( expected.count = ::std::option::Option::Some($count); )?
        $( expected.queue = ::std::option::Option::Some(::std::convert::Into::into($queue)); )?
        $( expected.delay = ::std::option::Option::Some($delay); )?
        let text = ::std::stringify!($job { $($field: $value,)* .. });
        if let ::std::result::Result::Err(message) =
            $crate::testing::check_enqueued::<$job>(&$place, expected, text).await
        {
            ::std::panic!("{message}");
        }
    }};
    ($place:expr, $job:expr
        $(, count = $count:expr)? $(, queue = $queue:expr)? $(, delay = $delay:expr)? $(,)?) => {{
        async fn check<P: $crate::testing::Enqueued, J: $crate::Job>(
            place: &P, _: &J, expected: $crate::testing::Expected, text: &str,
        ) -> ::std::result::Result<(), ::std::string::String> {
            $crate::testing::check_enqueued::<J>(place, expected, text).await
        }
        let job = $job;
        #[allow(unused_mut)]
        let mut expected = $crate::testing::Expected::job(&job);
        $( expected.count = ::std::option::Option::Some($count); )?
        $( expected.queue = ::std::option::Option::Some(::std::convert::Into::into($queue)); )?
        $( expected.delay = ::std::option::Option::Some($delay); )?
        let text = ::std::stringify!($job);
        if let ::std::result::Result::Err(message) = check(&$place, &job, expected, text).await {
            ::std::panic!("{message}");
        }
    }};
}
