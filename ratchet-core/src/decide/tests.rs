//! Tables and properties of the decisions.
