//! Application state: what `#[inject] gateway: State<Gateway>` hands to a job.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// A shared piece of the application, injected into jobs: a client, a pool, a configuration.
///
/// Registered once with `.state(value)` on the builder. Cheap to clone, derefs to the value.
///
/// ```
/// use ratchet_core::State;
///
/// struct Gateway { url: String }
///
/// // In a unit test the bare function of a job takes it like any argument.
/// let gateway = State::new(Gateway { url: "http://localhost".into() });
/// assert_eq!(gateway.url, "http://localhost");
/// ```
#[derive(Debug)]
pub struct State<T: ?Sized>(Arc<T>);

impl<T> State<T> {
    /// Wraps a value, so that the bare function can be called in a test.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Every registered state, by type.
#[derive(Debug, Clone, Default)]
pub struct States {
    by_type: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl States {
    /// Registers a value, replacing an earlier one of its type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.by_type.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// The state of type `T`.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        let any = Arc::clone(self.by_type.get(&TypeId::of::<T>())?);
        any.downcast::<T>().ok().map(State)
    }

    /// Whether a state of this type is registered.
    pub fn contains(&self, state: TypeId) -> bool {
        self.by_type.contains_key(&state)
    }
}

/// The last part of a type's name, generics included: `State<Gateway>` rather than its full path.
pub(crate) fn short_type_name<T: ?Sized>() -> String {
    shorten(type_name::<T>())
}

/// Drops the module path of every name inside `path`.
pub(crate) fn shorten(path: &str) -> String {
    let mut short = String::with_capacity(path.len());
    let mut word_at = 0;
    for c in path.chars() {
        short.push(c);
        if short.ends_with("::") {
            short.truncate(word_at);
        } else if !(c.is_alphanumeric() || c == '_' || c == ':') {
            word_at = short.len();
        }
    }
    short
}
