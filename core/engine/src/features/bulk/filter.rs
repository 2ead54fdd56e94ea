//! Which jobs a request about many means: the filters of both planes under all their names, read into one.
use ojs_model::{ErrorCode, JobId, JobState, OjsError, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::features::bulk::records::{Action, BulkFilter};
use crate::http::request::Params;
use crate::http::terms::{job_type, moment, state, time_of};
use crate::store::rows::JobFilter;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plane {
    /// An application: a filter says what it means.
    Data,
    /// An operator, who has confirmed.
    Admin,
}

/// One word or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

/// A filter as it is sent. A name that is not known is refused: a misspelt filter would mean all jobs.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    queue: Option<String>,
    r#type: Option<String>,
    #[serde(alias = "states")]
    state: Option<Words>,
    since: Option<String>,
    until: Option<String>,
    enqueued_after: Option<String>,
    enqueued_before: Option<String>,
    priority: Option<i32>,
    meta: Option<Map<String, Value>>,
}

impl Wanted {
    /// The filter of an action. What is enqueued while the request is under way is not meant.
    ///
    /// # Errors
    /// 400 that names the member that cannot be used.
    pub fn filter(self, action: Action, plane: Plane, now: Timestamp) -> Result<BulkFilter, OjsError> {
        let says_something = self.queue.is_some()
            || self.r#type.is_some()
            || self.state.is_some()
            || self.priority.is_some()
            || self.meta.is_some()
            || [&self.since, &self.until, &self.enqueued_after, &self.enqueued_before].iter().any(|at| at.is_some());
        if plane == Plane::Data && !says_something {
            return Err(OjsError::invalid_field("filter", "filter must say which jobs are meant: an empty one would mean all.")
                .with_hint("Name a queue, type, state, priority, meta or time; operators have /ojs/v1/admin/jobs/bulk."));
        }
        let states = match self.state {
            Some(words) => states(words, "filter.state", action)?,
            None => usual_states(action, plane),
        };
        let after = time_of("filter.enqueued_after", self.enqueued_after)?.map(|at| at.saturating_add(1));
        let end = now.as_millis().saturating_add(1);
        let until = [time_of("filter.until", self.until)?, time_of("filter.enqueued_before", self.enqueued_before)?];
        Ok(BulkFilter {
            filter: JobFilter {
                queue: self.queue,
                job_type: self.r#type.as_deref().map(job_type).transpose()?,
                since: time_of("filter.since", self.since)?.into_iter().chain(after).max(),
                until: until.into_iter().flatten().chain([end]).min(),
                ..JobFilter::default()
            },
            states,
            priority: self.priority,
            meta: self.meta.unwrap_or_default(),
            older_than: None,
        })
    }
}

/// States that an action means when the filter names none.
fn usual_states(action: Action, plane: Plane) -> Vec<JobState> {
    if action == Action::Cancel && plane == Plane::Data {
        return vec![JobState::Available, JobState::Scheduled];
    }
    JobState::ALL.into_iter().filter(|state| action.allows(*state)).collect()
}

/// The states of a list, each of which the action must allow.
fn states(words: Words, field: &str, action: Action) -> Result<Vec<JobState>, OjsError> {
    let words = match words {
        Words::One(word) => vec![word],
        Words::Many(words) => words,
    };
    if words.is_empty() {
        return Err(OjsError::invalid_field(field, format!("{field} must name at least one state.")));
    }
    let mut states = Vec::new();
    for word in &words {
        let state = state(word)?;
        if !action.allows(state) {
            let message = format!("A bulk {} cannot reach jobs that are {state}; use {}.", action.verb(), action.states());
            return Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": field})));
        }
        if !states.contains(&state) {
            states.push(state);
        }
    }
    Ok(states)
}

/// What of a queue is purged.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purge {
    states: Option<Words>,
    older_than: Option<String>,
    /// Set by the caller on purpose.
    #[serde(default)]
    pub confirm: bool,
    /// Count only.
    #[serde(default)]
    pub dry_run: bool,
    /// At most so many in this request.
    pub limit: Option<usize>,
}

impl Purge {
    /// The same from a query.
    ///
    /// # Errors
    /// 400 for a limit that is no number.
    pub fn of(params: &Params) -> Result<Self, OjsError> {
        let says = |name: &str| params.get(name) == Some("true");
        let states = params.list("states");
        Ok(Self {
            states: (!states.is_empty()).then_some(Words::Many(states)),
            older_than: params.get("older_than").map(str::to_owned),
            confirm: says("confirm"),
            dry_run: says("dry_run"),
            limit: params.get("limit").map(|_| params.number("limit", 0, usize::MAX)).transpose()?,
        })
    }

    /// The filter of a purge.
    ///
    /// # Errors
    /// 400 when the states are missing, or one cannot be purged.
    pub fn filter(self, queue: String, now: Timestamp) -> Result<BulkFilter, OjsError> {
        let words = self.states.ok_or_else(|| {
            let message = format!("states is required: which jobs to purge. They are {}.", Action::Purge.states());
            OjsError::invalid_field("states", message)
        })?;
        let older_than = self.older_than.map(|text| moment("older_than", &text, now)).transpose()?;
        Ok(BulkFilter {
            filter: JobFilter { queue: Some(queue), until: Some(now.as_millis().saturating_add(1)), ..JobFilter::default() },
            states: states(words, "states", Action::Purge)?,
            older_than,
            ..BulkFilter::default()
        })
    }
}

/// Ids in the order of the request; what is no id names nothing.
///
/// # Errors
/// 400 when there are none.
pub fn ids(given: Vec<String>) -> Result<Vec<(String, Option<JobId>)>, OjsError> {
    if given.is_empty() {
        return Err(OjsError::invalid_field("job_ids", "job_ids must name at least one job."));
    }
    Ok(given.into_iter().map(|text| (text.clone(), text.parse().ok())).collect())
}
