//! Workflows: pure constructors of definitions, and what the server says about one.
//!
//! ```
//! use ojs::JobRequest;
//! use ojs::workflow::chain;
//! let etl = chain([
//!     JobRequest::new("data.fetch", [serde_json::json!({"url": "…"})]),
//!     JobRequest::new("data.load", [serde_json::json!({"dest": "warehouse"})]),
//! ]).name("etl");
//! ```
use bytes::Bytes;
use ojs_model::json::{push_member, push_text};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::forms;
use crate::error::Error;
use crate::json::Json;
use crate::request::JobRequest;

/// What to run, in which order. Made by [`chain`], [`group`], [`batch`] and [`graph`]; started by
/// [`Client::workflow`](crate::Client::workflow).
#[derive(Debug, Clone)]
#[must_use]
pub struct WorkflowDefinition {
    kind: Kind,
    name: Option<String>,
    steps: Vec<Step>,
    /// Of a graph: the name of each step, and those that it waits for.
    places: Vec<Place>,
    callbacks: Callbacks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Chain,
    Group,
    Batch,
    Graph,
}

#[derive(Debug, Clone)]
struct Place {
    id: String,
    after: Vec<String>,
}

/// A job, or a workflow inside a workflow.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// One job.
    Job(Box<JobRequest>),
    /// A nested workflow.
    Workflow(Box<WorkflowDefinition>),
}

impl From<JobRequest> for Step {
    fn from(job: JobRequest) -> Self {
        Self::Job(Box::new(job))
    }
}

impl From<WorkflowDefinition> for Step {
    fn from(workflow: WorkflowDefinition) -> Self {
        Self::Workflow(Box::new(workflow))
    }
}

/// A step of a [`graph`]. Made by [`node`].
#[derive(Debug, Clone)]
#[must_use]
pub struct Node {
    place: Place,
    step: Step,
}

impl Node {
    /// The nodes that must have completed before this one begins, by their ids.
    pub fn after<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.place.after.extend(ids.into_iter().map(Into::into));
        self
    }
}

/// A step of a [`graph`]; `id` is its name there.
pub fn node(id: impl Into<String>, step: impl Into<Step>) -> Node {
    Node { place: Place { id: id.into(), after: Vec::new() }, step: step.into() }
}

/// Jobs that run when a batch has ended.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Callbacks {
    on_complete: Option<JobRequest>,
    on_success: Option<JobRequest>,
    on_failure: Option<JobRequest>,
}

impl Callbacks {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs when all jobs have ended, whatever came of them.
    pub fn on_complete(mut self, job: JobRequest) -> Self {
        self.on_complete = Some(job);
        self
    }

    /// Runs when all jobs have succeeded.
    pub fn on_success(mut self, job: JobRequest) -> Self {
        self.on_success = Some(job);
        self
    }

    /// Runs when all jobs have ended and one has failed.
    pub fn on_failure(mut self, job: JobRequest) -> Self {
        self.on_failure = Some(job);
        self
    }
}

/// One after the other: each step finds the results of those before in `parent_results`.
pub fn chain<S: Into<Step>>(steps: impl IntoIterator<Item = S>) -> WorkflowDefinition {
    WorkflowDefinition::new(Kind::Chain, steps, Callbacks::default())
}

/// All at once.
pub fn group<S: Into<Step>>(jobs: impl IntoIterator<Item = S>) -> WorkflowDefinition {
    WorkflowDefinition::new(Kind::Group, jobs, Callbacks::default())
}

/// All at once, and callbacks when all have ended.
pub fn batch<S: Into<Step>>(jobs: impl IntoIterator<Item = S>, callbacks: Callbacks) -> WorkflowDefinition {
    WorkflowDefinition::new(Kind::Batch, jobs, callbacks)
}

/// Each node runs as soon as those before it have completed, and finds their results in `parent_results`.
///
/// ```
/// use ojs::JobRequest;
/// use ojs::workflow::{graph, node};
/// let report = graph([
///     node("orders", JobRequest::new("data.fetch", ["orders"])),
///     node("users", JobRequest::new("data.fetch", ["users"])),
///     node("report", JobRequest::new("report.build", ())).after(["orders", "users"]),
/// ]);
/// ```
pub fn graph(nodes: impl IntoIterator<Item = Node>) -> WorkflowDefinition {
    let (places, steps): (Vec<_>, Vec<_>) = nodes.into_iter().map(|node| (node.place, node.step)).unzip();
    WorkflowDefinition { places, ..WorkflowDefinition::new(Kind::Graph, steps, Callbacks::default()) }
}

impl WorkflowDefinition {
    fn new<S: Into<Step>>(kind: Kind, steps: impl IntoIterator<Item = S>, callbacks: Callbacks) -> Self {
        let steps = steps.into_iter().map(Into::into).collect();
        Self { kind, name: None, steps, places: Vec::new(), callbacks }
    }

    /// A name for people.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Every job of it, callbacks and those of workflows inside included.
    #[cfg(feature = "opentelemetry")]
    pub(crate) fn each_job(&mut self, change: &mut dyn FnMut(&mut JobRequest)) {
        for step in &mut self.steps {
            match step {
                Step::Job(job) => change(job),
                Step::Workflow(workflow) => workflow.each_job(change),
            }
        }
        let callbacks = &mut self.callbacks;
        [&mut callbacks.on_complete, &mut callbacks.on_success, &mut callbacks.on_failure].into_iter().flatten().for_each(change);
    }

    /// The short form; [`forms`] makes of it what goes over the wire.
    pub(crate) fn to_json(&self) -> Result<String, Error> {
        let (kind, list) = match self.kind {
            Kind::Chain => ("chain", "steps"),
            Kind::Group => ("group", "jobs"),
            Kind::Batch => ("batch", "jobs"),
            Kind::Graph => ("graph", "steps"),
        };
        let mut out = String::from("{");
        push_text(&mut out, "type", kind);
        if let Some(name) = &self.name {
            push_text(&mut out, "name", name);
        }
        push_member(&mut out, list, &self.steps_json()?);
        let mut callbacks = String::from("{");
        let parts = [
            ("on_complete", &self.callbacks.on_complete),
            ("on_success", &self.callbacks.on_success),
            ("on_failure", &self.callbacks.on_failure),
        ];
        for (name, job) in parts {
            if let Some(job) = job {
                push_member(&mut callbacks, name, &job.to_json()?);
            }
        }
        if callbacks.len() > 1 {
            callbacks.push('}');
            push_member(&mut out, "callbacks", &callbacks);
        }
        out.push('}');
        Ok(out)
    }

    fn steps_json(&self) -> Result<String, Error> {
        let mut out = String::from("[");
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            let mut text = match step {
                Step::Job(job) => {
                    let mut job = job.clone();
                    // A step is called by its place, or by the name that a graph gives it.
                    job.id = None;
                    job.to_json()?
                }
                Step::Workflow(workflow) => workflow.to_json()?,
            };
            if let Some(Place { id, after }) = self.places.get(index) {
                text.pop(); // the brace that closes the object
                push_text(&mut text, "id", id);
                if !after.is_empty() {
                    push_member(&mut text, "depends_on", &Value::from(after.clone()).to_string());
                }
                text.push('}');
            }
            out.push_str(&text);
        }
        out.push(']');
        Ok(out)
    }
}

/// As the server would read it; for tests and tools.
impl TryFrom<&WorkflowDefinition> for Value {
    type Error = Error;

    fn try_from(definition: &WorkflowDefinition) -> Result<Self, Error> {
        let body = forms::workflow(&definition.to_json()?.into())?;
        serde_json::from_slice(&body).map_err(|e| Error::json("workflow", e))
    }
}

/// A workflow as the server describes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Workflow {
    /// Its id.
    pub id: String,
    /// `running`, `completed`, `failed`, `cancelled`.
    pub state: String,
    /// Jobs or steps in all.
    pub total: u64,
    /// Those that have succeeded.
    pub completed: u64,
    /// Everything the server said.
    pub document: Json,
}

impl Workflow {
    pub(crate) fn from_answer(body: &Bytes) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            workflow: Option<&'a RawValue>,
        }
        let answer: Answer<'_> = serde_json::from_slice(body).map_err(|e| Error::json("workflow", e))?;
        let document = answer.workflow.map_or_else(|| Json::parsed(body.clone()), |raw| Json::part(body, raw));
        let value = document.to_value();
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let count = |names: [&str; 2]| names.iter().find_map(|name| value.get(*name).and_then(Value::as_u64)).unwrap_or_default();
        Ok(Self {
            id: text("id"),
            state: text("state"),
            total: count(["jobs_total", "steps_total"]),
            completed: count(["jobs_completed", "steps_completed"]),
            document,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(name: &str) -> JobRequest {
        JobRequest::new(name, ())
    }

    #[test]
    fn a_chain_names_its_order() {
        let body = Value::try_from(&chain([job("a"), job("b").queue("q")]).name("etl")).unwrap();
        assert_eq!(
            body,
            json!({"type": "chain", "name": "etl", "steps": [
                {"type": "a", "args": [], "id": "step-0"},
                {"type": "b", "args": [], "options": {"queue": "q"}, "id": "step-1", "depends_on": ["step-0"]},
            ]})
        );
    }

    #[test]
    fn groups_and_batches_list_their_jobs_twice() {
        let steps = json!([{"type": "a", "args": [], "id": "step-0"}]);
        assert_eq!(
            Value::try_from(&group([job("a")])).unwrap(),
            json!({"type": "group", "name": "group", "steps": steps, "jobs": steps})
        );
        let body = Value::try_from(&batch([job("a")], Callbacks::new().on_failure(job("alert")))).unwrap();
        assert_eq!(
            body,
            json!({
                "type": "batch", "name": "batch", "steps": steps, "jobs": steps,
                "callbacks": {"on_failure": {"type": "alert", "args": []}},
            })
        );
    }

    #[test]
    fn workflows_nest() {
        let body = Value::try_from(&chain([Step::from(job("a")), group([job("b")]).into()])).unwrap();
        assert_eq!(body["steps"][1]["type"], "group");
        assert_eq!(body["steps"][1]["depends_on"], json!(["step-0"]));
    }

    #[test]
    fn answers_are_read_wrapped_or_bare() {
        for body in
            [r#"{"workflow":{"id":"w","state":"running","steps_total":3}}"#, r#"{"id":"w","state":"running","steps_total":3}"#]
        {
            let workflow = Workflow::from_answer(&Bytes::from(body)).unwrap();
            assert_eq!((workflow.id.as_str(), workflow.state.as_str(), workflow.total), ("w", "running", 3));
        }
    }
}
