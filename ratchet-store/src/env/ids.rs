//! Generation of ids.

use std::sync::{Arc, Mutex, PoisonError};

use uuid::{Builder, Uuid};

use super::{Clock, Entropy};
use crate::model::{JobId, LeaseId, NodeId, OperationId};

/// Generates ids (`UUIDv7`) in ascending order: two ids of one source sort in the order of their generation.
#[derive(Debug)]
pub struct IdSource {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// The millisecond of the last id, and the number of ids generated in it.
    last: Mutex<(u64, u16)>,
}

impl IdSource {
    /// Creates a source that uses this clock and this randomness.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy, last: Mutex::new((0, 0)) }
    }

    /// Generates a job id.
    pub fn job(&self) -> JobId {
        JobId::from_uuid(self.next())
    }

    /// Generates a node id.
    pub fn node(&self) -> NodeId {
        NodeId::from_uuid(self.next())
    }

    /// Generates a lease id.
    pub fn lease(&self) -> LeaseId {
        LeaseId::from_uuid(self.next())
    }

    /// Generates an operation id.
    pub fn operation(&self) -> OperationId {
        OperationId::from_uuid(self.next())
    }

    fn next(&self) -> Uuid {
        /// The 12 bits after the millisecond are a counter.
        const FULL: u16 = 1 << 12;
        let now = u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0);
        let (millis, count) = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = match *last {
                (millis, _) if now > millis => (now, 0),
                (millis, count) if count + 1 < FULL => (millis, count + 1),
                // The counter is exhausted, or the clock went backward: use the next millisecond.
                (millis, _) => (millis + 1, 0),
            };
            *last
        };
        let mut random = [0; 10];
        random[..2].copy_from_slice(&count.to_be_bytes());
        random[2..].copy_from_slice(&self.entropy.next_u64().to_be_bytes());
        Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}
