//! Spans of the engine (extensions, section 12), under a target of their own: without a subscriber that wants them they
//! cost one comparison, and no log line shows them. The program around the engine makes traces of them.
use std::sync::OnceLock;

use tracing::Span;

/// The target of all spans. It does not begin like those of our log lines: a filter of logs does not switch spans on.
pub const TARGET: &str = "trace::ojs";

/// Continues the trace of a `traceparent` in a span.
pub type Continue = fn(&Span, &str);

static CONTINUE: OnceLock<Continue> = OnceLock::new();

/// Says how a trace is continued, once in a process. Further calls change nothing.
pub fn continue_with(how: Continue) {
    let _ = CONTINUE.set(how);
}

/// Makes a span part of the trace that a `traceparent` names, which is looked for only where there is a span.
pub(crate) fn continued(span: &Span, traceparent: impl FnOnce() -> Option<String>) {
    if span.is_disabled() {
        return;
    }
    if let (Some(how), Some(traceparent)) = (CONTINUE.get(), traceparent()) {
        how(span, &traceparent);
    }
}

/// The span of one step of the engine, entered until the end of the block.
macro_rules! step {
    ($name:literal $(, $($field:tt)+)?) => {
        tracing::info_span!(target: $crate::spans::TARGET, $name, otel.kind = "internal" $(, $($field)+)?).entered()
    };
}
pub(crate) use step;
