//! Application state, injected into jobs with `#[inject] gateway: State<Gateway>`.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use crate::failure::shorten;

/// A shared value of the application that is injected into jobs, such as a client, a pool or a configuration.
///
/// Registered with `.state(value)` on the builder. Cheap to clone; dereferences to the value.
///
/// ```
/// # mod ratchet { pub use ratchet_core::State; }
/// use ratchet::State;
///
/// struct Gateway { url: String }
///
/// // In a unit test the bare function of a job takes it like any argument.
/// let gateway = State::new(Gateway { url: "http://localhost".into() });
/// assert_eq!(gateway.url, "http://localhost");
/// ```
#[derive(Debug)]
pub struct State<T: ?Sized>(
    /// The value. Public, so that an argument can be a pattern: `#[inject] State(gateway): State<Gateway>`.
    pub Arc<T>,
);

impl<T> State<T> {
    /// Wraps a value, so that a job's function can be called directly in a test.
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

/// All registered states, by type. Each is kept as a `State<T>`.
#[derive(Debug, Clone, Default)]
pub struct States {
    by_type: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl States {
    /// Registers a value. Replaces an earlier value of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.by_type.insert(TypeId::of::<T>(), Arc::new(State::new(value)));
    }

    /// Returns the state of type `T`, if one is registered.
    pub fn get<T: 'static>(&self) -> Option<State<T>> {
        self.by_type.get(&TypeId::of::<T>())?.downcast_ref::<State<T>>().cloned()
    }

    /// Returns `true` if a state of this type is registered.
    pub fn contains(&self, state: TypeId) -> bool {
        self.by_type.contains_key(&state)
    }
}

/// Returns the name of a type without module paths, including its generics, such as `State<Gateway>`.
pub(crate) fn short_type_name<T: ?Sized>() -> String {
    shorten(type_name::<T>())
}
