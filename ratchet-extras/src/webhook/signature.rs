//! Signatures of webhook deliveries, with which the receiver checks where a request comes from.

use std::fmt::Write as _;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header with the signature.
pub const SIGNATURE: &str = "ratchet-signature";

/// The header with the id of the delivery. A repeat has the same id.
pub const DELIVERY: &str = "ratchet-delivery";

/// Why a signature was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The header does not have the form `t=<seconds>,v1=<hex>`.
    #[error("the signature is malformed: it must be `t=<seconds>,v1=<hex>`")]
    Malformed,
    /// The signature is older than the tolerance, or from the future.
    #[error("the signature was made at {at} s, which is not within the tolerance")]
    Expired {
        /// When the signature was made, in seconds since 1970.
        at: u64,
    },
    /// No signature was made with the secret.
    #[error("no signature matches the body, the id and the secret")]
    Mismatch,
}

/// Returns the value of the header [`SIGNATURE`]: the time in seconds since 1970, and for each secret the HMAC-SHA256 of
/// `<time>.<id>.<body>`.
pub(super) fn sign(secrets: &[Vec<u8>], time: u64, id: &str, body: &[u8]) -> String {
    let mut header = format!("t={time}");
    for secret in secrets {
        header.push_str(",v1=");
        for byte in mac(secret, time, id, body).finalize().into_bytes() {
            let _ = write!(header, "{byte:02x}");
        }
    }
    header
}

/// Checks the signature of a delivery.
///
/// `header` is the value of [`SIGNATURE`], `id` that of [`DELIVERY`], and `body` the body as it was received. `now` is the
/// time of the receiver in seconds since 1970, from which the time of the signature must not differ by more than
/// `tolerance`. Otherwise a recorded request could be sent again later.
///
/// ```
/// use std::time::Duration;
/// use ratchet_extras::webhook::verify;
///
/// # fn receive(signature: &str, id: &str, body: &[u8], now: u64) -> Result<(), ratchet_extras::webhook::SignatureError> {
/// verify(b"the shared secret", signature, id, body, now, Duration::from_secs(300))?;
/// // The request comes from the owner of the secret.
/// # Ok(())
/// # }
/// ```
pub fn verify(
    secret: &[u8],
    header: &str,
    id: &str,
    body: &[u8],
    now: u64,
    tolerance: Duration,
) -> Result<(), SignatureError> {
    let fields = || header.split(',').filter_map(|field| field.trim().split_once('='));
    let time = fields().find(|(name, _)| *name == "t").and_then(|(_, time)| time.parse().ok());
    let time: u64 = time.ok_or(SignatureError::Malformed)?;
    let mut signatures = fields().filter(|(name, _)| *name == "v1").peekable();
    if signatures.peek().is_none() {
        return Err(SignatureError::Malformed);
    }
    if now.abs_diff(time) > tolerance.as_secs() {
        return Err(SignatureError::Expired { at: time });
    }
    let matches = |text: &str| {
        // The comparison takes the same time for every signature.
        unhex(text).is_some_and(|bytes| mac(secret, time, id, body).verify_slice(&bytes).is_ok())
    };
    match signatures.any(|(_, text)| matches(text)) {
        true => Ok(()),
        false => Err(SignatureError::Mismatch),
    }
}

fn mac(secret: &[u8], time: u64, id: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key can have any length");
    mac.update(format!("{time}.{id}.").as_bytes());
    mac.update(body);
    mac
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"a":1}"#;
    const TIME: u64 = 1_700_000_000;

    fn check(secret: &[u8], header: &str, id: &str, body: &[u8]) -> Result<(), SignatureError> {
        verify(secret, header, id, body, TIME, Duration::from_mins(5))
    }

    /// The signature was computed with the module `hmac` of Python.
    #[test]
    fn d_08_another_implementation_makes_the_same_signature() {
        let header = sign(&[b"whsec".to_vec()], TIME, "job:0:1", BODY);
        let expected =
            "t=1700000000,v1=a7837ca7893319b3ecc1794ec59784b9fbe32ed0e1a87ab6b4d893aab7335114";
        assert_eq!(header, expected);
        assert_eq!(check(b"whsec", &header, "job:0:1", BODY), Ok(()));
    }

    #[test]
    fn d_08_whatever_was_changed_is_noticed() {
        let header = sign(&[b"whsec".to_vec()], TIME, "id", BODY);
        let mismatch = Err(SignatureError::Mismatch);
        assert_eq!(check(b"other", &header, "id", BODY), mismatch);
        assert_eq!(check(b"whsec", &header, "other", BODY), mismatch);
        assert_eq!(check(b"whsec", &header, "id", b"{}"), mismatch);
        let later = header.replace("t=1700000000", "t=1700000001");
        assert_eq!(check(b"whsec", &later, "id", BODY), mismatch);
        assert_eq!(check(b"whsec", "t=1700000000,v1=zz", "id", BODY), mismatch);
        for malformed in ["", "t=x,v1=00", "v1=00", "t=1700000000", "t=1700000000,v2=00"] {
            assert_eq!(check(b"whsec", malformed, "id", BODY), Err(SignatureError::Malformed));
        }
    }

    #[test]
    fn d_08_an_old_signature_is_refused() {
        let header = sign(&[b"whsec".to_vec()], TIME, "id", BODY);
        let at = |now| verify(b"whsec", &header, "id", BODY, now, Duration::from_mins(5));
        let expired = Err(SignatureError::Expired { at: TIME });
        assert_eq!((at(TIME + 300), at(TIME - 300)), (Ok(()), Ok(())));
        assert_eq!((at(TIME + 301), at(TIME - 301)), (expired.clone(), expired));
    }

    #[test]
    fn d_08_secrets_can_be_rotated() {
        let header = sign(&[b"new".to_vec(), b"old".to_vec()], TIME, "id", BODY);
        assert_eq!(check(b"new", &header, "id", BODY), Ok(()));
        assert_eq!(check(b"old", &header, "id", BODY), Ok(()));
        assert_eq!(check(b"none", &header, "id", BODY), Err(SignatureError::Mismatch));
    }
}
