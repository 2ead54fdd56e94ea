//! The trace that a job belongs to (extensions section 12): W3C `traceparent`, or the plain `trace_id` beside it.
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::workflow::{NewWorkflow, Work};

/// The member of `meta` that names the span which made the job.
const PARENT: &str = "traceparent";
/// Beside it in the jobs of a workflow: the one that began it.
const ORIGIN: &str = "ojs.workflow.trace_origin";

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    traceparent: Option<Text<'a>>,
    #[serde(borrow)]
    trace_id: Option<Text<'a>>,
}

/// A string; anything else counts as absent.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text<'a> {
    Is(#[serde(borrow)] Cow<'a, str>),
    Other(serde::de::IgnoredAny),
}

impl<'a> Text<'a> {
    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Is(text) if !text.is_empty() => Some(text),
            Self::Is(_) | Self::Other(_) => None,
        }
    }
}

/// The trace id in a `meta` object, JSON text.
///
/// ```
/// use ojs_model::trace;
/// let meta = r#"{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","trace_id":"other"}"#;
/// assert_eq!(trace::id_of(meta).as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
/// assert_eq!(trace::id_of(r#"{"trace_id":"t1"}"#).as_deref(), Some("t1"));
/// assert_eq!(trace::id_of("{}"), None);
/// ```
#[must_use]
pub fn id_of(meta: &str) -> Option<String> {
    // Both names start so: a job without a trace costs one search.
    if !meta.contains("\"trace") {
        return None;
    }
    let meta: Meta<'_> = serde_json::from_str(meta).ok()?;
    let parent = meta.traceparent.and_then(Text::text);
    let parent = parent.as_deref().and_then(trace_of);
    parent.map(str::to_owned).or_else(|| meta.trace_id.and_then(Text::text).map(Cow::into_owned))
}

/// `version-traceid-parentid-flags`: the second part, when it is 32 hex digits and not all zero.
fn trace_of(parent: &str) -> Option<&str> {
    let id = parent.split('-').nth(1)?;
    let valid = id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) && id.bytes().any(|b| b != b'0');
    valid.then_some(id)
}

/// Members of an object by name, as they were written.
type Members<'a> = BTreeMap<String, &'a RawValue>;

/// What the steps of a workflow hand on: JSON texts.
#[derive(Clone)]
struct Handed {
    parent: Box<RawValue>,
    origin: Box<RawValue>,
}

/// Gives each job of a workflow the trace of the one before it, unless it has its own.
pub(crate) fn hand_on(workflow: &mut NewWorkflow) {
    along(workflow, None);
}

fn along(workflow: &mut NewWorkflow, mut handed: Option<Handed>) -> Option<Handed> {
    for step in &mut workflow.steps {
        match &mut step.work {
            Work::Job(request) => handed = receive(request, handed),
            Work::Workflow(inner) => handed = along(inner, handed),
        }
    }
    // Each follows the jobs, none follows another callback.
    for (_, request) in &mut workflow.callbacks {
        receive(request, handed.clone());
    }
    handed
}

/// What goes on to the next job.
fn receive(request: &mut String, handed: Option<Handed>) -> Option<Handed> {
    let Some((text, next)) = received(request, handed.as_ref()) else { return handed };
    if let Some(text) = text {
        *request = text;
    }
    Some(next)
}

/// The request as it is to be, if it changes, and its own trace. `None` where there is none.
fn received(request: &str, handed: Option<&Handed>) -> Option<(Option<String>, Handed)> {
    let mut members: Members<'_> = serde_json::from_str(request).ok()?;
    let mut meta: Members<'_> = match members.get("meta") {
        Some(meta) if meta.get() != "null" => serde_json::from_str(meta.get()).ok()?,
        _ => Members::new(),
    };
    if let Some(own) = meta.get(PARENT) {
        let parent: Box<RawValue> = (*own).to_owned();
        let origin = meta.get(ORIGIN).map_or_else(|| parent.clone(), |origin| (*origin).to_owned());
        return Some((None, Handed { parent, origin }));
    }
    let handed = handed?;
    meta.insert(PARENT.to_owned(), &handed.parent);
    meta.entry(ORIGIN.to_owned()).or_insert(&handed.origin);
    let meta = to_raw_value(&meta).ok()?;
    members.insert("meta".to_owned(), &meta);
    Some((Some(serde_json::to_string(&members).ok()?), handed.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use serde_json::{Value, json};

    fn metas(workflow: &NewWorkflow) -> Vec<Value> {
        let jobs = workflow.steps.iter().map(|step| match &step.work {
            Work::Job(request) => request,
            Work::Workflow(inner) => match &inner.steps[0].work {
                Work::Job(request) => request,
                Work::Workflow(_) => panic!("one level"),
            },
        });
        let all = jobs.chain(workflow.callbacks.iter().map(|(_, request)| request));
        all.map(|request| serde_json::from_str::<Value>(request).expect("JSON")["meta"].clone()).collect()
    }

    fn parsed(definition: &Value) -> NewWorkflow {
        NewWorkflow::parse(&definition.to_string(), Timestamp::from_millis(0)).expect("a workflow")
    }

    #[test]
    fn each_step_carries_the_trace_of_the_one_before() {
        let (a, b) = (
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        );
        let workflow = parsed(&json!({"type": "chain", "steps": [
            {"type": "zero", "args": []},
            {"type": "one", "args": [], "meta": {"traceparent": a}},
            {"type": "two", "args": [], "meta": {"n": 1.0}},
            {"type": "group", "jobs": [{"type": "inner", "args": []}]},
            {"type": "own", "args": [], "meta": {"traceparent": b}},
            {"type": "last", "args": []},
        ]}));
        let handed = |parent: &str| json!({"traceparent": parent, "ojs.workflow.trace_origin": parent});
        let with_n = json!({"traceparent": a, "ojs.workflow.trace_origin": a, "n": 1.0});
        assert_eq!(
            metas(&workflow),
            [json!(null), json!({"traceparent": a}), with_n, handed(a), json!({"traceparent": b}), handed(b)]
        );
    }

    #[test]
    fn callbacks_follow_the_jobs_and_the_origin_stays() {
        let meta = json!({"traceparent": "00-a", "ojs.workflow.trace_origin": "00-o"});
        let workflow = parsed(&json!({"type": "batch", "jobs": [{"type": "one", "args": [], "meta": meta}],
            "callbacks": {"on_complete": {"type": "c", "args": []}, "on_success": {"type": "s", "args": []}}}));
        assert_eq!(metas(&workflow), [meta.clone(), meta.clone(), meta]);
    }
}
