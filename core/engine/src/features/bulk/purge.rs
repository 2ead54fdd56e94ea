//! What of a queue is purged: the filter of the operators' call.
use ojs_model::{OjsError, Timestamp};
use serde::Deserialize;

use crate::features::bulk::filter::{Words, states};
use crate::features::bulk::records::{Action, BulkFilter};
use crate::http::request::Params;
use crate::http::terms::moment;
use crate::store::rows::JobFilter;

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
