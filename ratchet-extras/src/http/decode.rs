//! Decodes the body of a response within a limit.

use std::io::{self, Write as _};

use flate2::write::MultiGzDecoder;
use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;

/// Decodes a body into at most `limit` bytes.
pub(super) enum Decoder {
    Identity(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
}

/// A buffer that refuses to grow beyond its limit.
pub(super) struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.limit - self.bytes.len() {
            self.is_full = true;
            return Err(io::Error::other("the limit is exceeded"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Decoder {
    /// Chooses the decoder. Fails with the encoding if it is not supported, which includes every nested one.
    pub(super) fn of(headers: &HeaderMap, limit: usize) -> Result<Self, String> {
        let bounded = Bounded { bytes: Vec::new(), limit, is_full: false };
        let encodings: Vec<_> = headers.get_all(CONTENT_ENCODING).iter().collect();
        let text: Vec<_> =
            encodings.iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        match text.join(", ").trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Identity(bounded)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(bounded)))),
            other => Err(other.chars().take(100).collect()),
        }
    }

    pub(super) fn push(&mut self, data: &[u8]) -> io::Result<()> {
        match self {
            Self::Identity(bounded) => bounded.write_all(data),
            Self::Gzip(decoder) => decoder.write_all(data),
        }
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Identity(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
        }
    }

    fn bounded(&self) -> &Bounded {
        match self {
            Self::Identity(bounded) => bounded,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.bounded().is_full
    }

    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        match &mut self {
            Self::Identity(bounded) => std::mem::take(&mut bounded.bytes),
            Self::Gzip(decoder) => std::mem::take(&mut decoder.get_mut().bytes),
        }
    }
}
