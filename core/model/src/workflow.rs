//! Workflow definitions: chain, group, batch and graphs, read in every published form (protocol section 8.3).
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::envelope::check_name;
use crate::error::{ErrorCode, OjsError};
use crate::limits::MAX_BATCH_JOBS;
use crate::{JobId, NewJob, Timestamp};

/// Deepest nesting of workflows in workflows.
pub const MAX_NESTING: usize = 5;

/// How the steps of a workflow hang together. The numbers are what stores keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    /// One after the other.
    Chain = 0,
    /// All at the same time.
    Group = 1,
    /// All at the same time, then callbacks.
    Batch = 2,
    /// Each after those that it names.
    Graph = 3,
}

/// When a callback of a batch runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Callback {
    /// In any case.
    OnComplete = 0,
    /// When every job succeeded.
    OnSuccess = 1,
    /// When any job failed.
    OnFailure = 2,
}

/// A validated workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWorkflow {
    /// The client's id, or a fresh one.
    pub id: JobId,
    /// How the steps hang together.
    pub shape: Shape,
    /// For people.
    pub name: Option<String>,
    /// In the order given.
    pub steps: Vec<NewStep>,
    /// Enqueue requests of a batch's callbacks.
    pub callbacks: Vec<(Callback, String)>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct NewStep {
    /// Its `id` or `name`.
    pub name: Option<String>,
    /// What it does.
    pub work: Work,
    /// Steps that must have succeeded before, by index.
    pub after: Vec<usize>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A job: the text of its enqueue request.
    Job(String),
    /// A workflow of its own.
    Workflow(Box<NewWorkflow>),
}

impl Shape {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Group => "group",
            Self::Batch => "batch",
            Self::Graph => "dag",
        }
    }

    /// The shape of a stored number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Chain, Self::Group, Self::Batch, Self::Graph].get(usize::from(number)).copied()
    }
}

impl Callback {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::OnComplete, Self::OnSuccess, Self::OnFailure];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OnComplete => "on_complete",
            Self::OnSuccess => "on_success",
            Self::OnFailure => "on_failure",
        }
    }

    /// Whether it runs, given that any job failed or none did.
    #[must_use]
    pub const fn fires(self, failed: bool) -> bool {
        match self {
            Self::OnComplete => true,
            Self::OnSuccess => !failed,
            Self::OnFailure => failed,
        }
    }
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

#[derive(Deserialize)]
struct Body<'a> {
    id: Option<String>,
    #[serde(rename = "type")]
    shape: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    steps: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    jobs: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    callbacks: Option<Members<'a>>,
    #[serde(borrow)]
    on_complete: Option<&'a RawValue>,
    #[serde(borrow)]
    on_success: Option<&'a RawValue>,
    #[serde(borrow)]
    on_failure: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<Members<'a>>,
}

/// 400 `invalid_payload` of type `invalid_workflow`, naming the place.
fn invalid(path: &str, message: impl Into<String>) -> OjsError {
    let message = message.into();
    let details = json!({"field": path, "validation_errors": [{"path": path, "message": message}]});
    OjsError::new(ErrorCode::InvalidPayload, format!("{path}: {message}")).with_kind("invalid_workflow").with_details(details)
}

impl NewWorkflow {
    /// Reads a definition. Every step is validated as if it were enqueued now.
    ///
    /// ```
    /// use ojs_model::{Timestamp, workflow::NewWorkflow};
    /// let text = r#"{"type":"chain","steps":[{"type":"a","args":[]},{"type":"b","args":[]}]}"#;
    /// let workflow = NewWorkflow::parse(text, Timestamp::from_millis(0))?;
    /// assert_eq!(workflow.steps[1].after, [0]);
    /// # Ok::<(), ojs_model::OjsError>(())
    /// ```
    ///
    /// # Errors
    /// 400 `invalid_payload` with `type: "invalid_workflow"` and `details.validation_errors`.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, OjsError> {
        let mut workflow = parse(text, &Members::new(), "workflow", 1, now)?;
        let jobs = workflow.jobs();
        if jobs > MAX_BATCH_JOBS {
            return Err(invalid("workflow", format!("has {jobs} jobs; the limit is {MAX_BATCH_JOBS}.")));
        }
        if text.contains("\"traceparent\"") {
            crate::trace::hand_on(&mut workflow);
        }
        Ok(workflow)
    }

    fn jobs(&self) -> usize {
        let of = |step: &NewStep| match &step.work {
            Work::Job(_) => 1,
            Work::Workflow(inner) => inner.jobs(),
        };
        self.steps.iter().map(of).sum()
    }
}

fn parse(text: &str, inherited: &Members<'_>, path: &str, depth: usize, now: Timestamp) -> Result<NewWorkflow, OjsError> {
    if depth > MAX_NESTING {
        return Err(invalid(path, format!("is nested deeper than {MAX_NESTING} levels.")));
    }
    let body: Body<'_> = serde_json::from_str(text).map_err(|error| invalid(path, format!("does not fit: {error}.")))?;
    let shape = shape(&body, path)?;
    let id = match &body.id {
        None => JobId::now_v7(),
        Some(text) => text.parse().map_err(|_| invalid(&format!("{path}.id"), "must be a lowercase UUIDv7."))?,
    };
    let mut defaults = inherited.clone();
    defaults.extend(body.options.clone().unwrap_or_default());
    let (list, given) = match (&body.steps, &body.jobs) {
        (Some(steps), _) if !steps.is_empty() => ("steps", steps),
        (_, Some(jobs)) if !jobs.is_empty() => ("jobs", jobs),
        _ => return Err(invalid(&format!("{path}.steps"), "must have at least one step.")),
    };
    let mut steps = Vec::with_capacity(given.len());
    let mut wanted = Vec::with_capacity(given.len());
    for (index, raw) in given.iter().enumerate() {
        let (step, after) = step(raw.get(), &defaults, &format!("{path}.{list}[{index}]"), depth, now)?;
        steps.push(step);
        wanted.push(after);
    }
    body.name.as_deref().map_or(Ok(()), |name| check_name(&format!("{path}.name"), name))?;
    connect(shape, &mut steps, wanted, path)?;
    let callbacks = if shape == Shape::Batch { callbacks(&body, &defaults, path, now)? } else { Vec::new() };
    Ok(NewWorkflow { id, shape, name: body.name, steps, callbacks })
}

fn shape(body: &Body<'_>, path: &str) -> Result<Shape, OjsError> {
    match body.shape.as_deref() {
        Some("chain") => Ok(Shape::Chain),
        Some("group") => Ok(Shape::Group),
        Some("batch") => Ok(Shape::Batch),
        Some("dag" | "graph") => Ok(Shape::Graph),
        None if body.steps.is_some() => Ok(Shape::Graph),
        _ => Err(invalid(&format!("{path}.type"), "must be chain, group, batch or graph.")),
    }
}

/// Reads a step: a job, or a workflow of its own. Also returns the names in `depends_on`.
fn step(
    text: &str,
    defaults: &Members<'_>,
    path: &str,
    depth: usize,
    now: Timestamp,
) -> Result<(NewStep, Vec<String>), OjsError> {
    let mut members: Members<'_> =
        serde_json::from_str(text).map_err(|error| invalid(path, format!("must be an object: {error}.")))?;
    let word = |raw: Option<&&RawValue>| raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    let name = word(members.get("id")).or_else(|| word(members.get("name")));
    name.as_deref().map_or(Ok(()), |name| check_name(&format!("{path}.id"), name))?;
    let after = match members.get("depends_on").map(|raw| serde_json::from_str(raw.get())) {
        None => Vec::new(),
        Some(Ok(names)) => names,
        Some(Err(_)) => return Err(invalid(&format!("{path}.depends_on"), "must be an array of step ids.")),
    };
    let nested = members.contains_key("steps") || members.contains_key("jobs");
    if nested {
        // A step's id is a name of the author's choice; the inner workflow gets an id of its own.
        members.remove("id");
        let text = serde_json::to_string(&members).map_err(|error| invalid(path, error.to_string()))?;
        let inner = parse(&text, defaults, path, depth + 1, now)?;
        return Ok((NewStep { name, work: Work::Workflow(Box::new(inner)), after: Vec::new() }, after));
    }
    for own in ["id", "name", "depends_on", "compensate"] {
        members.remove(own);
    }
    let request = job_request(members, defaults, path, now)?;
    Ok((NewStep { name, work: Work::Job(request), after: Vec::new() }, after))
}

/// The text of an enqueue request, the workflow's options filled in where the step has none.
fn job_request(given: Members<'_>, defaults: &Members<'_>, path: &str, now: Timestamp) -> Result<String, OjsError> {
    let json_error = |error: serde_json::Error| invalid(path, format!("does not fit: {error}."));
    let own: Members<'_> = match given.get("options") {
        Some(raw) if raw.get() != "null" => serde_json::from_str(raw.get()).map_err(json_error)?,
        _ => Members::new(),
    };
    let mut options = defaults.clone();
    options.retain(|name, _| !given.contains_key(name));
    options.extend(own);
    let merged = serde_json::value::to_raw_value(&options).map_err(json_error)?;
    let mut members = given;
    if options.is_empty() {
        members.remove("options");
    } else {
        members.insert("options".to_owned(), &merged);
    }
    let request = serde_json::to_string(&members).map_err(json_error)?;
    NewJob::parse(&request, now).map_err(|error| {
        let field = error.details.as_ref().and_then(|details| details.get("field")).and_then(Value::as_str);
        let path = field.map_or_else(|| path.to_owned(), |field| format!("{path}.{field}"));
        invalid(&path, error.message)
    })?;
    Ok(request)
}

fn callbacks(body: &Body<'_>, defaults: &Members<'_>, path: &str, now: Timestamp) -> Result<Vec<(Callback, String)>, OjsError> {
    let flat = [body.on_complete, body.on_success, body.on_failure];
    let mut found = Vec::new();
    for (callback, flat) in Callback::ALL.into_iter().zip(flat) {
        let nested = body.callbacks.as_ref().and_then(|callbacks| callbacks.get(callback.as_str()).copied());
        let Some(raw) = nested.or(flat).filter(|raw| raw.get() != "null") else { continue };
        let place = format!("{path}.callbacks.{}", callback.as_str());
        let members = serde_json::from_str(raw.get()).map_err(|error| invalid(&place, format!("must be an object: {error}.")))?;
        found.push((callback, job_request(members, defaults, &place, now)?));
    }
    if found.is_empty() {
        return Err(invalid(
            &format!("{path}.callbacks"),
            "a batch needs on_complete, on_success or on_failure; without one use a group.",
        ));
    }
    Ok(found)
}

/// Turns names into indexes and refuses circles.
fn connect(shape: Shape, steps: &mut [NewStep], wanted: Vec<Vec<String>>, path: &str) -> Result<(), OjsError> {
    match shape {
        Shape::Group | Shape::Batch => return Ok(()),
        Shape::Chain => {
            for (index, step) in steps.iter_mut().enumerate() {
                step.after = index.checked_sub(1).into_iter().collect();
            }
            return Ok(());
        }
        Shape::Graph => {}
    }
    let mut places = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        if let Some(name) = &step.name
            && places.insert(name.clone(), index).is_some()
        {
            return Err(invalid(&format!("{path}.steps[{index}].id"), format!("'{name}' is used twice.")));
        }
    }
    for (index, (step, names)) in steps.iter_mut().zip(wanted).enumerate() {
        for name in names {
            let place = places.get(&name).copied();
            let unknown = || invalid(&format!("{path}.steps[{index}].depends_on"), format!("names '{name}', which is no step."));
            step.after.push(place.ok_or_else(unknown)?);
        }
    }
    if has_circle(steps) { Err(invalid(&format!("{path}.steps"), "depend on each other in a circle.")) } else { Ok(()) }
}

/// Takes away steps that wait for no other step until none is left, or until all that are left wait for each other.
fn has_circle(steps: &[NewStep]) -> bool {
    let mut done = vec![false; steps.len()];
    loop {
        let ready = |step: &NewStep| step.after.iter().all(|index| done.get(*index) == Some(&true));
        let next: Vec<usize> = (0..)
            .zip(steps)
            .filter(|(index, step)| done.get(*index) == Some(&false) && ready(step))
            .map(|(index, _)| index)
            .collect();
        if next.is_empty() {
            return done.contains(&false);
        }
        for index in next {
            if let Some(flag) = done.get_mut(index) {
                *flag = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Result<NewWorkflow, OjsError> {
        NewWorkflow::parse(&value.to_string(), Timestamp::from_millis(0))
    }

    #[test]
    fn every_published_form_is_read() {
        let a = json!({"type": "a", "args": []});
        let chain = read(json!({"type": "chain", "name": "n", "jobs": [a, a]})).unwrap();
        assert_eq!((chain.shape, chain.name.as_deref(), chain.steps.len()), (Shape::Chain, Some("n"), 2));
        let union =
            read(json!({"type": "group", "steps": [{"id": "s1", "type": "a", "args": [], "depends_on": []}], "jobs": [a]}))
                .unwrap();
        assert_eq!(union.steps[0].name.as_deref(), Some("s1"));
        let flat = read(json!({"type": "batch", "jobs": [a], "on_failure": a})).unwrap();
        assert_eq!(flat.callbacks[0].0, Callback::OnFailure);
        let graph = read(json!({"name": "g", "steps": [
            {"id": "x", "type": "a", "args": []}, {"id": "y", "type": "a", "args": [], "depends_on": ["x"]},
        ]}))
        .unwrap();
        assert_eq!((graph.shape, graph.steps[1].after.as_slice()), (Shape::Graph, &[0][..]));
    }

    #[test]
    fn options_of_the_workflow_are_defaults() {
        let workflow = NewWorkflow::parse(
            r#"{"type":"group","options":{"queue":"w","priority":5},"jobs":[{"type":"a","args":[1.0,1e3],"options":{"queue":"own"}},{"type":"b","args":[],"priority":7}]}"#,
            Timestamp::from_millis(0),
        ).unwrap();
        let jobs: Vec<NewJob> = workflow
            .steps
            .iter()
            .map(|step| match &step.work {
                Work::Job(text) => NewJob::parse(text, Timestamp::from_millis(0)).unwrap(),
                Work::Workflow(_) => panic!(),
            })
            .collect();
        assert_eq!((jobs[0].queue.as_str(), jobs[0].priority), ("own", 5));
        assert_eq!((jobs[1].queue.as_str(), jobs[1].priority), ("w", 7));
        assert!(jobs[0].body.contains("[1.0,1e3]"), "numbers keep their text");
    }

    #[test]
    fn faults_name_their_place() {
        let a = json!({"type": "a", "args": []});
        let mut deep = a.clone();
        for _ in 0..6 {
            deep = json!({"type": "chain", "steps": [deep]});
        }
        for (body, place) in [
            (json!({"type": "pile", "steps": [a]}), "workflow.type"),
            (json!({"type": "chain", "steps": []}), "workflow.steps"),
            (json!({"type": "chain"}), "workflow.steps"),
            (json!({"type": "batch", "jobs": [a]}), "workflow.callbacks"),
            (json!({"type": "group", "jobs": [a, {"type": "B", "args": []}]}), "workflow.jobs[1].type"),
            (json!({"type": "chain", "steps": [{"type": "a", "args": {}}]}), "workflow.steps[0].args"),
            (json!({"steps": [{"id": "x", "type": "a", "args": [], "depends_on": ["y"]}]}), "workflow.steps[0].depends_on"),
            (json!({"steps": [{"id": "x", "type": "a", "args": [], "depends_on": ["x"]}]}), "workflow.steps"),
            (
                json!({"steps": [{"id": "x", "type": "a", "args": []}, {"id": "x", "type": "a", "args": []}]}),
                "workflow.steps[1].id",
            ),
            (json!({"type": "chain", "id": "7", "steps": [a]}), "workflow.id"),
            (deep, "workflow.steps[0].steps[0].steps[0].steps[0].steps[0]"),
        ] {
            let error = read(body.clone()).unwrap_err();
            assert_eq!((error.status, error.kind.as_deref()), (400, Some("invalid_workflow")), "{body}");
            assert_eq!(error.details.unwrap()["validation_errors"][0]["path"], place, "{body}");
        }
    }
}
