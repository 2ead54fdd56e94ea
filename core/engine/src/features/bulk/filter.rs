//! Which jobs a request about many means: the filters of both planes under all their names, read into one.
use ojs_model::{ErrorCode, JobId, JobState, OjsError, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::features::admin::filter::Search;
use crate::features::bulk::records::{Action, BulkFilter};
use crate::http::terms::{invalid, job_type, state, time_of};
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
pub(super) enum Words {
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
    error_type: Option<String>,
    #[serde(default)]
    dead_letters: bool,
    q: Option<String>,
}

impl Wanted {
    /// Whether it names nothing but a queue and states.
    pub fn is_plain(&self) -> bool {
        let times = [&self.since, &self.until, &self.enqueued_after, &self.enqueued_before];
        let texts = [&self.r#type, &self.error_type, &self.q];
        let named = times.iter().chain(&texts).any(|text| text.is_some());
        !named && self.priority.is_none() && self.meta.is_none() && !self.dead_letters
    }

    /// The filter of an action. What is enqueued while the request is under way is not meant.
    ///
    /// # Errors
    /// 400 that names the member that cannot be used.
    pub fn filter(self, action: Action, plane: Plane, now: Timestamp) -> Result<BulkFilter, OjsError> {
        let says_something = self.queue.is_some() || self.state.is_some() || !self.is_plain();
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
        let mut filter = JobFilter {
            queue: self.queue,
            job_type: self.r#type.as_deref().map(job_type).transpose()?,
            since: time_of("filter.since", self.since)?.into_iter().chain(after).max(),
            until: until.into_iter().flatten().chain([end]).min(),
            ..JobFilter::default()
        };
        let search = search(self.q.as_deref(), &mut filter, now)?;
        let states = searched(states, &search, action)?;
        Ok(BulkFilter {
            filter,
            search,
            states,
            priority: self.priority,
            meta: self.meta.unwrap_or_default(),
            error_type: self.error_type,
            dead_letters: self.dead_letters,
            ..BulkFilter::default()
        })
    }
}

/// The search of a filter. Its states stay with it: an action goes through one state after the other.
fn search(text: Option<&str>, filter: &mut JobFilter, now: Timestamp) -> Result<Search, OjsError> {
    let Some(text) = text else { return Ok(Search::default()) };
    let mut search = Search::read(text, now)?;
    if search.tenant.is_some() {
        let message = "filter.q cannot name a tenant: what a key of a tenant changes is of that tenant.";
        return Err(OjsError::invalid_field("filter.q", message));
    }
    search.narrow_but_states(filter);
    Ok(search)
}

/// The states that are left of a filter. None would mean all.
fn searched(states: Vec<JobState>, search: &Search, action: Action) -> Result<Vec<JobState>, OjsError> {
    let left: Vec<JobState> = states.into_iter().filter(|state| search.allows(*state)).collect();
    if left.is_empty() {
        let message = format!("A bulk {} cannot reach the states of this search; use {}.", action.verb(), action.states());
        return Err(OjsError::new(ErrorCode::InvalidRequest, message).with_details(json!({"field": "filter.q"})));
    }
    Ok(left)
}

/// States that an action means when the filter names none.
fn usual_states(action: Action, plane: Plane) -> Vec<JobState> {
    if action == Action::Cancel && plane == Plane::Data {
        return vec![JobState::Available, JobState::Scheduled];
    }
    JobState::ALL.into_iter().filter(|state| action.allows(*state)).collect()
}

/// The states of a list, each of which the action must allow.
pub(super) fn states(words: Words, field: &str, action: Action) -> Result<Vec<JobState>, OjsError> {
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

/// Refuses a change of many jobs that the caller has not confirmed.
///
/// # Errors
/// 400.
pub(crate) fn confirmed(confirm: bool) -> Result<(), OjsError> {
    if confirm {
        return Ok(());
    }
    Err(invalid("confirm", "This changes many jobs at once: confirm must be true.")
        .with_hint("See what would be changed with dry_run, then send confirm."))
}
