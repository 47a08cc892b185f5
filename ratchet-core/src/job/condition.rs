//! Conditions on edges. They are registered functions, referenced by name, because closures cannot be stored.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use super::{JobArg, Location};

/// A condition on the output of a step. `#[condition]` generates this constant next to the function.
///
/// ```
/// # mod ratchet { pub use ratchet_core as graph; pub use ratchet_macros::condition; }
/// use ratchet::condition;
/// use ratchet::graph::Condition;
///
/// #[condition(crate = ::ratchet_core)]
/// fn is_large(cents: &u64) -> bool {
///     *cents > 100_000
/// }
///
/// # fn main() {
/// let condition: Condition<u64> = IS_LARGE; // for `step.after_if(&order, IS_LARGE)`
/// assert_eq!((condition.def().evaluate)("250000").ok(), Some(true));
/// # }
/// ```
pub struct Condition<T> {
    def: ConditionDef,
    _takes: PhantomData<fn(&T)>,
}

/// A condition as it is registered.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConditionDef {
    /// The name stored on edges: `<package>.<fn>`.
    pub name: &'static str,
    /// Evaluates the condition on an output in JSON.
    pub evaluate: fn(&str) -> Result<bool, serde_json::Error>,
    /// The source location of the function.
    pub location: Location,
}

inventory::collect!(ConditionDef);

impl<T> Condition<T> {
    /// Creates a condition with this name.
    pub const fn new(
        name: &'static str,
        evaluate: fn(&str) -> Result<bool, serde_json::Error>,
        location: Location,
    ) -> Self {
        let def = ConditionDef { name: super::checked::name(name), evaluate, location };
        Self { def, _takes: PhantomData }
    }
}

impl<T> Condition<T> {
    /// Returns the registry's description of the condition.
    pub const fn def(&self) -> ConditionDef {
        self.def
    }
}

impl<T> Clone for Condition<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Condition<T> {}

impl<T> fmt::Debug for Condition<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condition").field("name", &self.def.name).finish_non_exhaustive()
    }
}

/// A type whose values a condition can take: any type that serde can deserialize.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output that a condition looks at",
    label = "this type cannot be read back from the store",
    note = "the output of a step is saved as JSON: the type must implement `serde::Serialize` and `serde::Deserialize`, and be `Send + 'static`"
)]
pub trait ConditionInput: JobArg {}

#[diagnostic::do_not_recommend]
impl<T: JobArg> ConditionInput for T {}

/// Evaluates the user's function on a stored output. Only this function requires [`ConditionInput`].
pub fn evaluate<T: ConditionInput>(
    json: &str,
    holds: fn(&T) -> bool,
) -> Result<bool, serde_json::Error> {
    T::read(json).map(|output| holds(&output))
}

/// Returns all conditions of the program by name, or a description of every name that is used more than once.
pub(crate) fn collect() -> Result<BTreeMap<&'static str, ConditionDef>, Vec<String>> {
    let mut by_name = BTreeMap::<_, ConditionDef>::new();
    let mut clashes = Vec::new();
    for condition in inventory::iter::<ConditionDef>() {
        if let Some(first) = by_name.insert(condition.name, *condition) {
            clashes.push(format!(
                "two conditions are named `{}`: {} and {}",
                condition.name, first.location, condition.location
            ));
        }
    }
    if clashes.is_empty() { Ok(by_name) } else { Err(clashes) }
}
