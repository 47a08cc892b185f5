//! Fingerprints for grouping similar failures.

/// Returns a short text that is equal for failures of the same type whose messages differ only in numbers and ids.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; }
/// use ratchet::failure::fingerprint;
///
/// let a = fingerprint("Timeout", "order 17 timed out after 30s");
/// assert_eq!(a, fingerprint("Timeout", "order 2048 timed out after 31s"));
/// assert_ne!(a, fingerprint("Declined", "order 17 timed out after 30s"));
/// ```
pub fn fingerprint(error_type: &str, message: &str) -> String {
    // FNV-1a. Fingerprints are stored and compared by other versions of this program, so the algorithm must never
    // change.
    let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
    hash.write(error_type);
    hash.write("\0");
    for word in message.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let (body, end) = match word.char_indices().next_back() {
            Some((at, c)) if !c.is_alphanumeric() => word.split_at(at),
            _ => (word, ""),
        };
        // A word that contains a digit is a number, an id or a hash.
        hash.write(if body.chars().any(char::is_numeric) { "#" } else { body });
        hash.write(end);
    }
    format!("{:016x}", hash.0)
}

struct Fnv(u64);

impl Fnv {
    fn write(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}
