//! The runtime for jobs that are not registered: two of them can have one name.

/// The items for generated code, without the registration.
pub mod __private {
    pub use ratchet_core::__private::*;

    pub use crate::__unregistered as submit;
}

/// Registers nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __unregistered {
    ($($registration:tt)*) => {};
}
