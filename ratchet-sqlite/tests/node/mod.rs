//! A worker without an engine: claims and settles through the store alone.
#![allow(unused_imports)] // not all of it is used by every test

pub(crate) use ratchet_conformance::damage::{
    LEASE, Live, Node, assert_readiness_counts_unreadable, job, succeeded,
};
