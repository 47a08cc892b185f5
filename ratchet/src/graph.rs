//! Chains, batches and workflows: jobs that wait for each other.
//!
//! [`Ratchet::chain`](crate::Ratchet::chain), [`Ratchet::batch`](crate::Ratchet::batch) and
//! [`Ratchet::workflow`](crate::Ratchet::workflow) start building one.

pub use ratchet_core::{
    AddMembers, Batch, Chain, ChainHandle, Condition, FanIn, FirstStep, GroupFilter, GroupHandle,
    GroupId, GroupReport, GroupStep, Groups, Input, InputListRef, InputRef, NoOutput, StepAfter,
    StepOptions, StepOutput, StepRef, WithoutInputs, Workflow,
};
