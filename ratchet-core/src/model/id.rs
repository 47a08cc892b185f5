//! Identities.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// The identity with this UUID.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    };
}

id! {
    /// A job. A `UUIDv7` made by the client, so that graphs of jobs are built without round trips, and ids sort by time.
    JobId
}
id! {
    /// A group of jobs: a chain, batch or workflow.
    GroupId
}
id! {
    /// A worker process. New at every start, and again when a node has lost its lease.
    NodeId
}
id! {
    /// One claimed batch.
    LeaseId
}

/// The fence: proof of which claim of a job somebody speaks for.
///
/// The version grows by one with every move of the job; a write that presents an older one changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Token {
    /// The job.
    pub job: JobId,
    /// The batch it was claimed in.
    pub lease: LeaseId,
    /// The version of the job after that claim.
    pub version: u64,
}
