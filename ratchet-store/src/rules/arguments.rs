//! The digest of the arguments of a job, by which a repeated submission is recognized.

use sha2::{Digest as _, Sha256};

use super::canonical::canonical;
use crate::model::{ArgumentDigest, NewJob, RepeatCheck};

/// Returns the digest of the arguments, by value and without those that have their default value. The format must never
/// change, because idempotency keys are kept permanently.
pub(crate) fn digest(job: &NewJob) -> [u8; 32] {
    let without = match &job.repeat_check {
        RepeatCheck::WithoutDefaults(arguments) => arguments.as_slice(),
        RepeatCheck::Arguments | RepeatCheck::KeyAlone => &[],
        RepeatCheck::Digest(digest) => return digest.by_value,
    };
    match canonical(&job.spec.payload, without) {
        Ok(text) => Sha256::digest(text).into(),
        // Only a client that bypasses the library can store a payload that is not JSON.
        Err(_) => digest_of_bytes(job),
    }
}

/// Returns the digests of a job whose payload is still its arguments.
pub fn digest_of_arguments(job: &NewJob) -> ArgumentDigest {
    ArgumentDigest {
        by_value: digest(job),
        by_bytes: digest_of_bytes(job),
        key_alone: is_by_key_alone(job),
    }
}

/// Returns `true` if a repeat is recognized by its key alone.
pub(crate) fn is_by_key_alone(job: &NewJob) -> bool {
    match &job.repeat_check {
        RepeatCheck::KeyAlone => true,
        RepeatCheck::Digest(digest) => digest.key_alone,
        RepeatCheck::Arguments | RepeatCheck::WithoutDefaults(_) => false,
    }
}

/// Returns the digest of the arguments as they are stored: the first format.
pub(crate) fn digest_of_bytes(job: &NewJob) -> [u8; 32] {
    if let RepeatCheck::Digest(digest) = &job.repeat_check {
        return digest.by_bytes;
    }
    Sha256::digest(&job.spec.payload).into()
}
