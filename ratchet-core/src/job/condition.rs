//! Conditions on edges: named functions over what a step returned, never stored closures.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use super::{JobArg, Location};

/// A condition over what a step returned: the constant that `#[condition]` writes beside the function.
pub struct Condition<T> {
    def: ConditionDef,
    _takes: PhantomData<fn(&T)>,
}

/// A condition as the registry holds it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConditionDef {
    /// The name edges are stored with: `<package>.<fn>`.
    pub name: &'static str,
    /// Judges an output.
    pub judge: fn(&str) -> Result<bool, serde_json::Error>,
    /// Where the function stands.
    pub location: Location,
}

inventory::collect!(ConditionDef);

impl<T: JobArg> Condition<T> {
    /// The condition of this name.
    pub const fn new(
        name: &'static str,
        judge: fn(&str) -> Result<bool, serde_json::Error>,
        location: Location,
    ) -> Self {
        let def = ConditionDef { name: super::checked::name(name), judge, location };
        Self { def, _takes: PhantomData }
    }
}

impl<T> Condition<T> {
    /// What the registry keeps of it.
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

/// Judges a stored output with the user's function.
pub fn judge<T: JobArg>(json: &str, holds: fn(&T) -> bool) -> Result<bool, serde_json::Error> {
    T::read(json).map(|output| holds(&output))
}

/// Every condition of the program, by name; or the names that several answer to, with where they stand.
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
