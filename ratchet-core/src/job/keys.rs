//! Keys built from arguments: `business_key = "order-{order_id}"`.

use std::fmt::{self, Display};

/// The keys of one invocation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keys {
    /// At most one live job can hold the key.
    pub business: Option<String>,
    /// At most one job is ever created for the key.
    pub idempotency: Option<String>,
    /// At most `concurrency_limit` jobs with the key run at once.
    pub concurrency: Option<String>,
}

impl Keys {
    /// Creates an empty set of keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the business key.
    pub fn business(mut self, key: fmt::Arguments<'_>) -> Self {
        self.business = Some(key.to_string());
        self
    }

    /// Sets the idempotency key.
    pub fn idempotency(mut self, key: fmt::Arguments<'_>) -> Self {
        self.idempotency = Some(key.to_string());
        self
    }

    /// Sets the concurrency key.
    pub fn concurrency(mut self, key: fmt::Arguments<'_>) -> Self {
        self.concurrency = Some(key.to_string());
        self
    }
}

/// The templates of the keys of a job, as written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyTemplates {
    /// The template of the business key.
    pub business: Option<&'static str>,
    /// The template of the idempotency key.
    pub idempotency: Option<&'static str>,
    /// The template of the concurrency key.
    pub concurrency: Option<&'static str>,
}

impl KeyTemplates {
    /// No templates.
    pub const NONE: Self = Self { business: None, idempotency: None, concurrency: None };
}

/// An argument that can be part of a key: any type that implements [`Display`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    label = "named in this template",
    note = "a key is text: the argument must implement `std::fmt::Display`; name a field of it instead, `\"order-{{order.id}}\"`"
)]
pub trait KeyPart {
    /// Returns the text of the argument in the key.
    fn key_part(&self) -> &dyn Display;
}

#[diagnostic::do_not_recommend]
impl<T: Display> KeyPart for T {
    fn key_part(&self) -> &dyn Display {
        self
    }
}

/// A value that operators may see.
#[diagnostic::on_unimplemented(
    message = "a secret cannot be part of a key: a key is shown to operators",
    label = "named in this template"
)]
pub trait MayBeShown {}

/// A field that a template names. The inherent method of [`Secret`](super::Secret) shadows this one, so that
/// a secret is refused.
pub trait KeyField: Sized {
    /// Returns the field.
    fn key_field(&self) -> &Self {
        self
    }
}

impl<T> KeyField for T {}

/// Returns the text of an argument in a key. Only this function requires [`KeyPart`].
pub fn key_part<T: KeyPart>(argument: &T) -> &dyn Display {
    argument.key_part()
}
