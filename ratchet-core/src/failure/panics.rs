//! Catches panics of user code, with their locations.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

use super::KnownSecrets;

/// The message and location of a panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PanicReport {
    pub(crate) message: String,
    pub(crate) location: Option<String>,
}

thread_local! {
    /// The location of the last panic of this thread. Only the hook receives it.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };

    /// The secrets of the run that this thread executes.
    static SECRETS: RefCell<KnownSecrets> = RefCell::default();
}

/// Runs the code of a run. If it panics with a message that quotes a secret of the run, the secret is not printed.
pub(crate) fn masking_panics<T>(secrets: &KnownSecrets, work: impl FnOnce() -> T) -> T {
    struct Restore(KnownSecrets);

    impl Drop for Restore {
        fn drop(&mut self) {
            SECRETS.set(std::mem::take(&mut self.0));
        }
    }

    let _restore = Restore(SECRETS.replace(secrets.clone()));
    work()
}

/// Prints a panic whose message quotes a secret, without the secret. Returns `false` if the message quotes none.
fn print_masked(info: &PanicHookInfo<'_>, place: Option<&str>) -> bool {
    let Some(message) = info.payload_as_str() else { return false };
    // If the thread is shutting down, it executes no run.
    let hidden = SECRETS.try_with(|secrets| match secrets.borrow().hide(message) {
        Cow::Borrowed(_) => None,
        Cow::Owned(hidden) => Some(hidden),
    });
    let Some(hidden) = hidden.ok().flatten() else { return false };
    let thread = std::thread::current();
    let (name, place) = (thread.name().unwrap_or("<unnamed>"), place.unwrap_or("an unknown place"));
    eprintln!("\nthread '{name}' panicked at {place}:\n{hidden}");
    true
}

/// Installs, once, a panic hook that records the location and then calls the previous hook.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let place = info.location().map(ToString::to_string);
            // If the thread is shutting down, the slot is gone and the location stays unknown.
            let is_printed = print_masked(info, place.as_deref());
            let _ = PLACE.try_with(|slot| slot.replace(place));
            // The hook of the application would print or send the message with the secret.
            if !is_printed {
                previous(info);
            }
        }));
    });
}

/// Runs user code and catches panics.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, PanicReport> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(PanicReport::new)
}

/// Drops a value and catches panics of its destructor.
pub(crate) fn drop_catching_panics<T>(value: T) -> Option<PanicReport> {
    catch_panic(move || drop(value)).err()
}

/// Counts panics of user code that do not fail an attempt, by component.
#[derive(Debug, Default)]
pub(crate) struct Panics(Mutex<BTreeMap<&'static str, u64>>);

impl Panics {
    /// Counts and logs a panic of a component.
    pub(crate) fn note(&self, component: &'static str, panic: &PanicReport) {
        *self.counts().entry(component).or_default() += 1;
        let PanicReport { message, location } = panic;
        let location = location.as_deref().unwrap_or("an unknown place");
        tracing::error!(component, location, panic = %message, "a {component} panicked; the worker continues");
    }

    /// Returns how often each component has panicked.
    pub(crate) fn by_component(&self) -> BTreeMap<&'static str, u64> {
        self.counts().clone()
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PanicReport {
    /// Adds the component to the message.
    pub(crate) fn within(mut self, component: &str) -> Self {
        self.message = format!("a {component} panicked: {}", self.message);
        self
    }

    /// Creates a report from the payload of a caught panic. Must be called on the thread that caught it.
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        /// The maximum length of the message; the sanitizer truncates it further.
        const LONGEST: usize = 64 * 1024;
        let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => text,
            (_, Some(text)) => text.as_str(),
            _ => "the panic carried no message",
        };
        let message = text[..text.floor_char_boundary(LONGEST)].to_owned();
        let location = PLACE.try_with(RefCell::take).ok().flatten();
        // Dropping the user's payload may panic too. The payload of that second panic is leaked.
        if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        Self { message, location }
    }
}
