//! [`Canonical`]: an unambiguous encoding of the fields that a signature or a seal covers.

/// Encodes fields so that different fields never have the same encoding: every part has a length prefix, and a missing
/// value differs from an empty one. The encoding starts with what it describes and with a version, so that a signature
/// of one kind of message is never valid for another.
///
/// ```
/// use ratchet_keyring::Canonical;
///
/// let first = Canonical::new("example", 1).text("ab").text("c").finish();
/// let second = Canonical::new("example", 1).text("a").text("bc").finish();
/// assert_ne!(first, second);
/// ```
#[derive(Debug, Clone)]
#[must_use = "an encoding is used by `.finish()`"]
pub struct Canonical(Vec<u8>);

impl Canonical {
    /// Starts the encoding of a kind of message, in a version.
    pub fn new(kind: &str, version: u32) -> Self {
        Self(Vec::with_capacity(256)).text(kind).number(version.into())
    }

    /// Adds bytes.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let mut encoding = self.number(bytes.len() as u64);
        encoding.0.extend_from_slice(bytes);
        encoding
    }

    /// Adds a text.
    pub fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a number.
    pub fn number(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Adds a flag.
    pub fn flag(mut self, flag: bool) -> Self {
        self.0.push(u8::from(flag));
        self
    }

    /// Adds a value that may be missing.
    pub fn optional<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        let encoding = self.flag(value.is_some());
        match value {
            Some(value) => add(encoding, value),
            None => encoding,
        }
    }

    /// Adds a text that may be missing.
    pub fn optional_text(self, text: Option<&str>) -> Self {
        self.optional(text, Self::text)
    }

    /// Adds a list.
    pub fn list<T>(
        self,
        items: impl ExactSizeIterator<Item = T>,
        mut add: impl FnMut(Self, T) -> Self,
    ) -> Self {
        let encoding = self.number(items.len() as u64);
        items.fold(encoding, &mut add)
    }

    /// Returns the encoding.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
