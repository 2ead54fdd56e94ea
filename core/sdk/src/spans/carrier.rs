//! The trace in a job's metadata: W3C names as flat members (extensions section 12).
use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanContext, TraceContextExt};
use opentelemetry_sdk::propagation::{BaggagePropagator, TraceContextPropagator};
use serde_json::{Map, Value};

pub(super) const TRACEPARENT: &str = "traceparent";
/// In the jobs of a workflow: the trace that started it.
pub(super) const ORIGIN: &str = "ojs.workflow.trace_origin";
/// Before the names that an older document gave them; read, never written.
const OLD: &str = "ojs.otel.";

/// Writes the context's span and baggage; what is invalid or empty is not written.
pub(super) fn inject(context: &Context, meta: &mut Map<String, Value>) {
    let mut members = Members(meta);
    TraceContextPropagator::new().inject_context(context, &mut members);
    BaggagePropagator::new().inject_context(context, &mut members);
}

/// The span that the metadata names.
pub(super) fn span(meta: &Map<String, Value>) -> Option<SpanContext> {
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &Trace::of(meta));
    Some(context.span().span_context().clone()).filter(SpanContext::is_valid)
}

/// The context with the metadata's baggage.
pub(super) fn with_baggage(context: &Context, meta: &Map<String, Value>) -> Context {
    BaggagePropagator::new().extract_with_context(context, &Trace::of(meta))
}

struct Members<'a>(&'a mut Map<String, Value>);

impl Injector for Members<'_> {
    fn set(&mut self, key: &str, value: String) {
        if !value.is_empty() {
            self.0.insert(key.to_owned(), value.into());
        }
    }
}

/// Metadata as it is read: the W3C names, the older ones, and `trace_id` with `span_id` where there is nothing else.
struct Trace<'a> {
    meta: &'a Map<String, Value>,
    plain: Option<String>,
}

impl<'a> Trace<'a> {
    fn of(meta: &'a Map<String, Value>) -> Self {
        let text = |name: &str| meta.get(name).or_else(|| meta.get(&format!("{OLD}{name}"))).and_then(Value::as_str);
        // Whether it was sampled is not known then; 01 leaves it to the sampler.
        let plain = || Some(format!("00-{}-{}-01", text("trace_id")?, text("span_id")?));
        Self { meta, plain: plain() }
    }
}

impl Extractor for Trace<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let given = self.meta.get(key).or_else(|| self.meta.get(&format!("{OLD}{key}"))).and_then(Value::as_str);
        given.or_else(|| self.plain.as_deref().filter(|_| key == TRACEPARENT))
    }

    fn keys(&self) -> Vec<&str> {
        self.meta.keys().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    fn found(meta: &Value) -> Option<(String, String)> {
        let span = span(meta.as_object().expect("an object"))?;
        Some((span.trace_id().to_string(), span.span_id().to_string()))
    }

    #[test]
    fn every_published_form_is_read() {
        let parent = format!("00-{TRACE}-{SPAN}-01");
        let expected = Some((TRACE.to_owned(), SPAN.to_owned()));
        for meta in [
            json!({"traceparent": parent, "trace_id": "another"}),
            json!({"trace_id": TRACE, "span_id": SPAN}),
            json!({"ojs.otel.traceparent": parent}),
            json!({"ojs.otel.trace_id": TRACE, "ojs.otel.span_id": SPAN}),
        ] {
            assert_eq!(found(&meta), expected, "{meta}");
        }
    }

    #[test]
    fn what_is_no_trace_is_none() {
        for meta in [
            json!({}),
            json!({"traceparent": 7}),
            json!({"traceparent": "00-z-2-01"}),
            json!({"trace_id": TRACE}),
            json!({"trace_id": "t", "span_id": "s"}),
        ] {
            assert_eq!(found(&meta), None, "{meta}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        use opentelemetry::baggage::BaggageExt;
        let meta = json!({"traceparent": format!("00-{TRACE}-{SPAN}-01"), "tracestate": "vendor=7", "baggage": "tenant=acme"});
        let context = with_baggage(&Context::new(), meta.as_object().expect("an object"));
        let context = context.with_remote_span_context(span(meta.as_object().expect("an object")).expect("a span"));
        assert_eq!(context.baggage().get("tenant").map(ToString::to_string).as_deref(), Some("acme"));
        let mut written = Map::new();
        inject(&context, &mut written);
        assert_eq!(Value::Object(written), meta);
        let mut nothing = Map::new();
        inject(&Context::new(), &mut nothing);
        assert!(nothing.is_empty(), "{nothing:?}");
    }
}
