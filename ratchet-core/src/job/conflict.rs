//! [`KeyConflict`]: the reaction to a business key that is taken.

use ratchet_store::model::OnConflict;

/// What a submit does if another live job holds its business key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyConflict {
    /// The submit fails.
    #[default]
    Refuse,
    /// The submit returns the job that holds the key.
    Existing,
    /// The submit returns the job that holds the key if that job has not started. While that job runs, the submit
    /// creates one more job, which runs afterward.
    Coalesce,
}

impl From<KeyConflict> for OnConflict {
    fn from(conflict: KeyConflict) -> Self {
        match conflict {
            KeyConflict::Refuse => Self::Refuse,
            KeyConflict::Existing => Self::ReturnHolder,
            KeyConflict::Coalesce => Self::Coalesce(None),
        }
    }
}
