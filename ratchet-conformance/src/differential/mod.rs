//! Two stores side by side.
