//! The trace context of a submit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The [W3C trace context](https://www.w3.org/TR/trace-context/) of the code that submitted a job, so that a tracing
/// system can relate the runs of the job to it.
///
/// A store keeps it as one text: the `traceparent`, and the `tracestate` after a space.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::TraceContext;
///
/// let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let context = TraceContext::new(parent)?.with_state("vendor=1")?;
/// assert_eq!(context.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert_eq!(context.to_string(), format!("{parent} vendor=1"));
/// # Ok::<(), ratchet_store::model::InvalidTraceContext>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceContext {
    parent: String,
    state: Option<String>,
}

/// A text is not a W3C trace context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTraceContext {
    /// The `traceparent` is malformed.
    #[error(
        "`traceparent` must be `00-<32 hexadecimal digits>-<16 hexadecimal digits>-<2 hexadecimal digits>`, in lower \
         case, with ids other than zero"
    )]
    Parent,
    /// The `tracestate` is malformed.
    #[error("`tracestate` must consist of 1 to {max} printable ASCII characters", max = TraceContext::MAX_STATE)]
    State,
}

impl TraceContext {
    /// The maximum length of a `tracestate`.
    pub const MAX_STATE: usize = 512;

    /// Parses a `traceparent`.
    ///
    /// # Errors
    ///
    /// If it is malformed. What follows the flags is accepted for versions after `00`, as the standard requires.
    pub fn new(traceparent: impl Into<String>) -> Result<Self, InvalidTraceContext> {
        let parent = traceparent.into();
        if is_traceparent(&parent) {
            Ok(Self { parent, state: None })
        } else {
            Err(InvalidTraceContext::Parent)
        }
    }

    /// Adds a `tracestate`.
    ///
    /// # Errors
    ///
    /// If it is empty, longer than [`MAX_STATE`](Self::MAX_STATE), or contains other characters than printable ASCII.
    pub fn with_state(
        mut self,
        tracestate: impl Into<String>,
    ) -> Result<Self, InvalidTraceContext> {
        let state = tracestate.into();
        let printable = state.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if state.is_empty() || state.len() > Self::MAX_STATE || !printable {
            return Err(InvalidTraceContext::State);
        }
        self.state = Some(state);
        Ok(self)
    }

    /// Returns the `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.parent
    }

    /// Returns the `tracestate`, if there is one.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the id of the trace: 32 hexadecimal digits.
    pub fn trace_id(&self) -> &str {
        self.parent.get(3..35).unwrap_or_default()
    }

    /// Returns the id of the span: 16 hexadecimal digits.
    pub fn span_id(&self) -> &str {
        self.parent.get(36..52).unwrap_or_default()
    }

    /// Returns whether the caller may have recorded its spans.
    pub fn is_sampled(&self) -> bool {
        let flags = self.parent.get(53..55).and_then(|flags| u8::from_str_radix(flags, 16).ok());
        flags.is_some_and(|flags| flags & 1 == 1)
    }
}

fn is_traceparent(text: &str) -> bool {
    /// Longer ones come from versions that do not exist yet.
    const MAX: usize = 128;
    let mut parts = text.splitn(5, '-');
    let mut hex = |digits: usize| {
        let part = parts.next()?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (part.len() == digits && part.bytes().all(is_hex)).then_some(part)
    };
    let is_id = |id: &str| id.bytes().any(|byte| byte != b'0');
    let Some((version, trace)) = hex(2).zip(hex(32)) else { return false };
    let Some((span, _flags)) = hex(16).zip(hex(2)) else { return false };
    let rest = parts.next();
    let complete = match version {
        "00" => rest.is_none(),
        "ff" => false,
        _ => text.len() <= MAX && text.bytes().all(|byte| byte.is_ascii_graphic()),
    };
    complete && is_id(trace) && is_id(span)
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parent)?;
        self.state.iter().try_for_each(|state| write!(f, " {state}"))
    }
}

impl FromStr for TraceContext {
    type Err = InvalidTraceContext;

    fn from_str(text: &str) -> Result<Self, InvalidTraceContext> {
        match text.split_once(' ') {
            Some((parent, state)) => Self::new(parent)?.with_state(state),
            None => Self::new(text),
        }
    }
}

impl TryFrom<String> for TraceContext {
    type Error = InvalidTraceContext;

    fn try_from(text: String) -> Result<Self, InvalidTraceContext> {
        text.parse()
    }
}

impl From<TraceContext> for String {
    fn from(context: TraceContext) -> Self {
        context.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn m_05_a_context_survives_its_text() {
        let context = TraceContext::new(PARENT).expect("it is valid");
        assert_eq!(context.to_string().parse(), Ok(context.clone()));
        let context = context.with_state("a=1, b=2").expect("it is valid");
        assert_eq!(context.to_string().parse(), Ok(context.clone()));
        assert_eq!((context.span_id(), context.is_sampled()), ("00f067aa0ba902b7", true));
        assert_eq!(context.tracestate(), Some("a=1, b=2"));
    }

    #[test]
    fn m_05_malformed_contexts_are_refused() {
        let zero = "0".repeat(32);
        for text in [
            "",
            "00",
            &PARENT[..54],
            &PARENT.to_uppercase(),
            &format!("{PARENT}-more"),
            &PARENT.replacen("00-", "ff-", 1),
            &PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &zero),
            &PARENT.replace("00f067aa0ba902b7", &zero[..16]),
            &PARENT.replace('b', "é"),
            &format!("01{}-{}", &PARENT[2..], "x".repeat(200)),
        ] {
            assert_eq!(TraceContext::new(text), Err(InvalidTraceContext::Parent), "{text}");
        }
        let later = format!("01{}-more", &PARENT[2..]);
        assert!(TraceContext::new(later).is_ok(), "a later version may append fields");
        for state in ["", "a=\n", &"a".repeat(513)] {
            let context = TraceContext::new(PARENT).expect("it is valid");
            assert_eq!(context.with_state(state), Err(InvalidTraceContext::State));
        }
    }
}
