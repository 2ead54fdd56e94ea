//! What is asked of error groups.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ojs_model::OjsError;

use crate::error::{Applied, Result};
use crate::features::errors::records::{ErrorRow, MAX_JOBS};
use crate::kernel::job::JobView;
use crate::kernel::typed::Query;
use crate::kernel::view::view;
use crate::store::tables::Tables;

/// Which failures are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorFilter {
    /// Only jobs of this queue.
    pub queue: Option<String>,
    /// Only this job type, or types that begin with what stands before a `*`.
    pub job_type: Option<String>,
    /// Only errors of this type.
    pub error_type: Option<String>,
    /// Only jobs of the tenant of this id.
    pub tenant: Option<String>,
    /// Only groups whose last failure is not before this time, milliseconds.
    pub since: Option<i64>,
}

/// What groups are in order of, the largest or the latest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorSort {
    /// The last failure.
    #[default]
    LastSeen,
    /// The first failure: what is new.
    FirstSeen,
    /// The number of failures.
    Count,
}

/// A part of a group: its failures of one queue and job type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorPlace {
    /// Name of the queue.
    pub queue: String,
    /// The job type.
    pub job_type: String,
    /// Failed attempts.
    pub count: i64,
    /// The last one, milliseconds.
    pub last_at: i64,
}

/// Failures with one fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorGroup {
    /// All of them together; queue and job type are those of the last failure.
    pub row: ErrorRow,
    /// By queue and job type, the largest part first.
    pub places: Vec<ErrorPlace>,
}

/// The groups that a filter finds.
#[derive(Debug, Clone, Default)]
pub struct ListErrors {
    /// Which failures count.
    pub filter: ErrorFilter,
    /// The order of the groups.
    pub sort: ErrorSort,
    /// What this process has not written yet.
    pub pending: Vec<ErrorRow>,
}

impl Query for ListErrors {
    type Reply = Vec<ErrorGroup>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Vec<ErrorGroup>> {
        let rows = tables.errors()?;
        let mut groups = grouped(tables, rows, &self.pending, &self.filter)?;
        groups.sort_by_cached_key(|ErrorGroup { row, .. }| {
            let first = match self.sort {
                ErrorSort::LastSeen => row.last_at,
                ErrorSort::FirstSeen => row.first_at,
                ErrorSort::Count => row.count,
            };
            Reverse((first, row.last_at, row.fingerprint.clone()))
        });
        Ok(groups)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// One group, with those of its jobs that there still are.
#[derive(Debug, Clone)]
pub struct GetError {
    /// Its fingerprint.
    pub fingerprint: String,
    /// Which failures count.
    pub filter: ErrorFilter,
    /// What this process has not written yet.
    pub pending: Vec<ErrorRow>,
}

impl Query for GetError {
    type Reply = (ErrorGroup, Vec<JobView>);

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        let rows = tables.errors_of(&self.fingerprint)?;
        let pending: Vec<ErrorRow> = self.pending.iter().filter(|row| row.fingerprint == self.fingerprint).cloned().collect();
        let found = grouped(tables, rows, &pending, &self.filter)?.pop();
        let group = found.ok_or_else(|| OjsError::not_found("error group", &self.fingerprint))?;
        let mut jobs = Vec::with_capacity(group.row.jobs.len());
        for id in &group.row.jobs {
            if let Some(row) = tables.visible(*id)? {
                jobs.push(view(tables, row)?);
            }
        }
        Ok((group, jobs))
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// Puts rows of one fingerprint together, as far as the caller may see them and the filter takes them.
fn grouped(tables: &mut dyn Tables, rows: Vec<ErrorRow>, pending: &[ErrorRow], filter: &ErrorFilter) -> Result<Vec<ErrorGroup>> {
    let tenant = match &filter.tenant {
        Some(id) => Some(tables.tenant_wanted(id)?),
        None => None,
    };
    let scope = tables.names().scope.clone();
    let takes = |row: &&ErrorRow| scope.sees(row.tenant) && tenant.is_none_or(|tenant| tenant == row.tenant) && filter.takes(row);
    let mut groups: BTreeMap<&str, ErrorGroup> = BTreeMap::new();
    for row in rows.iter().chain(pending).filter(takes) {
        let place =
            ErrorPlace { queue: row.queue.clone(), job_type: row.job_type.clone(), count: row.count, last_at: row.last_at };
        match groups.get_mut(row.fingerprint.as_str()) {
            Some(group) => group.add(row, place),
            None => drop(groups.insert(&row.fingerprint, ErrorGroup { row: row.clone(), places: vec![place] })),
        }
    }
    let since = filter.since.unwrap_or(i64::MIN);
    Ok(groups.into_values().filter(|group| group.row.last_at >= since).map(ErrorGroup::sorted).collect())
}

impl ErrorFilter {
    fn takes(&self, row: &ErrorRow) -> bool {
        let same = |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|wanted| wanted == own);
        let of_type = self.job_type.as_deref().is_none_or(|wanted| match wanted.strip_suffix('*') {
            Some(start) => row.job_type.starts_with(start),
            None => wanted == row.job_type,
        });
        of_type && same(&self.queue, &row.queue) && same(&self.error_type, &row.error_type)
    }
}

impl ErrorGroup {
    fn add(&mut self, row: &ErrorRow, place: ErrorPlace) {
        if row.last_at > self.row.last_at {
            self.row.queue.clone_from(&row.queue);
            self.row.job_type.clone_from(&row.job_type);
        }
        self.row.add(row);
        let same = |known: &&mut ErrorPlace| (&known.queue, &known.job_type) == (&place.queue, &place.job_type);
        match self.places.iter_mut().find(same) {
            Some(known) => {
                known.count = known.count.saturating_add(place.count);
                known.last_at = known.last_at.max(place.last_at);
            }
            None => self.places.push(place),
        }
    }

    fn sorted(mut self) -> Self {
        self.places.sort_by_key(|place| (Reverse(place.count), Reverse(place.last_at)));
        self.row.jobs.truncate(MAX_JOBS);
        self
    }

    /// The names of its queues, and of its job types.
    #[must_use]
    pub fn names(&self) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let queues = self.places.iter().map(|place| place.queue.as_str()).collect();
        (queues, self.places.iter().map(|place| place.job_type.as_str()).collect())
    }
}
