//! A worker without an engine: claims and settles through the store alone.
#![allow(unused_imports)] // not every test has a use for all of it

pub(crate) use ratchet_conformance::damage::{LEASE, Live, Node, job, succeeded};
