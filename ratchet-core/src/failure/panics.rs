//! Panics: caught at the boundary, with their place.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

/// What is known of a panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PanicReport {
    pub(crate) message: String,
    pub(crate) location: Option<String>,
}

thread_local! {
    /// Where the last panic of this thread happened: only the hook is told.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs, once, a hook that remembers where a panic happened and then calls the one that was there.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            let place = info.location().map(ToString::to_string);
            // A panic while the thread shuts down finds the slot gone; the place is then unknown, nothing worse.
            let _ = PLACE.try_with(|slot| slot.replace(place));
            previous(info);
        }));
    });
}

/// Runs user code that may panic.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, PanicReport> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(PanicReport::new)
}

/// Drops a value whose destructor may panic.
pub(crate) fn drop_catching_panics<T>(value: T) -> Option<PanicReport> {
    catch_panic(move || drop(value)).err()
}

/// Panics of user code that fail no attempt: counted by component, so that somebody notices.
#[derive(Debug, Default)]
pub(crate) struct Panics(Mutex<BTreeMap<&'static str, u64>>);

impl Panics {
    /// Counts a panic of a component and logs it.
    pub(crate) fn note(&self, component: &'static str, panic: &PanicReport) {
        *self.counts().entry(component).or_default() += 1;
        let PanicReport { message, location } = panic;
        let location = location.as_deref().unwrap_or("an unknown place");
        tracing::error!(component, location, panic = %message, "a {component} panicked; the worker goes on");
    }

    /// How often each component has panicked.
    pub(crate) fn by_component(&self) -> BTreeMap<&'static str, u64> {
        self.counts().clone()
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PanicReport {
    /// The same panic, with the component it happened in.
    pub(crate) fn within(mut self, component: &str) -> Self {
        self.message = format!("a {component} panicked: {}", self.message);
        self
    }

    /// Reads the payload of a caught panic, on the thread that caught it.
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        /// A message is kept up to this length; the sanitizer cuts it further.
        const LONGEST: usize = 64 * 1024;
        let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => text,
            (_, Some(text)) => text.as_str(),
            _ => "the panic carried no message",
        };
        let message = text[..text.floor_char_boundary(LONGEST)].to_owned();
        let location = PLACE.try_with(RefCell::take).ok().flatten();
        // The payload is the user's, and dropping it may panic as well. A second payload is leaked: enough is enough.
        if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        Self { message, location }
    }
}
