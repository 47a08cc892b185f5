//! Drawings as SVG. They contain no style of their own: classes take the colors of the style sheet.

pub(crate) mod bar;
pub(crate) mod graph;
pub(crate) mod lines;
pub(crate) mod timeline;
