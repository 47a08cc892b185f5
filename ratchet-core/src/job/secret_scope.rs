//! What serde does with a [`Secret`](super::Secret) on this thread: masks it, remembers its text, or notes that a type
//! has one.
//!
//! Only the value itself reaches the code of serde, so what is to be done must be known to the thread.

use std::cell::RefCell;

use serde::Serialize;
use serde_json::Value;

#[derive(Default)]
struct Scope {
    /// Secrets are written as `***`.
    masking: bool,
    /// The values of secrets that are read or written.
    collected: Option<Vec<Value>>,
    /// A type is traced; set to `true` when it has a secret.
    traced: Option<bool>,
}

thread_local! {
    static SCOPE: RefCell<Scope> = RefCell::default();
}

/// Restores the scope, also after a panic.
struct Restore(Option<Scope>);

impl Drop for Restore {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            SCOPE.replace(before);
        }
    }
}

/// Calls a function in a scope. Returns its result, and the scope as it has left it.
fn within<T>(scope: Scope, work: impl FnOnce() -> T) -> (T, Scope) {
    let mut restore = Restore(Some(SCOPE.replace(scope)));
    let result = work();
    let left = SCOPE.replace(restore.0.take().unwrap_or_default());
    (result, left)
}

/// Writes every secret as `***`.
pub(crate) fn masking<T>(work: impl FnOnce() -> T) -> T {
    within(Scope { masking: true, ..Scope::default() }, work).0
}

/// Returns the values of the secrets that are read or written meanwhile.
pub(crate) fn collecting<T>(work: impl FnOnce() -> T) -> (T, Vec<Value>) {
    let (result, scope) = within(Scope { collected: Some(Vec::new()), ..Scope::default() }, work);
    (result, scope.collected.unwrap_or_default())
}

/// Returns whether a secret is read meanwhile. Errors of its value are not hidden.
pub(super) fn tracing<T>(work: impl FnOnce() -> T) -> (T, bool) {
    let (result, scope) = within(Scope { traced: Some(false), ..Scope::default() }, work);
    (result, scope.traced == Some(true))
}

/// Returns whether secrets are written as `***`.
pub(super) fn is_masking() -> bool {
    SCOPE.with_borrow(|scope| scope.masking)
}

/// Returns whether a type is traced, and notes that it has a secret.
pub(super) fn trace() -> bool {
    SCOPE.with_borrow_mut(|scope| {
        scope.traced = scope.traced.map(|_| true);
        scope.traced.is_some()
    })
}

/// Remembers the value of a secret.
pub(super) fn collect<T: Serialize>(secret: &T) {
    if !SCOPE.with_borrow(|scope| scope.collected.is_some()) {
        return;
    }
    // A secret inside of a secret is written meanwhile.
    let (value, _) = within(Scope::default(), || serde_json::to_value(secret));
    if let Ok(value) = value {
        SCOPE.with_borrow_mut(|scope| scope.collected.get_or_insert_default().push(value));
    }
}
