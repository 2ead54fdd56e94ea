//! Rules that give jobs a version which name none: to send a share of them to a new version first.
use std::sync::Arc;

use ojs_model::version::Version;
use ojs_model::{ErrorCode, JobId, NewJob, OjsError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Applied, StoreError};
use crate::features::schemas::records::SchemaTables;
use crate::features::versions::records::{MAX_ROUTED, RouteRow};
use crate::features::versions::rollback::Rollback;
use crate::kernel::admission::Admission;
use crate::kernel::transaction::Transaction;
use crate::kernel::typed::{Command, Query};
use crate::store::tables::Tables;

/// Most rules of one job type.
const MAX_RULES: usize = 100;
/// Largest weight of a rule.
const MAX_WEIGHT: u64 = 1_000_000;

/// A rule of a job type: this version for a share of its jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The version, as it was given: a string or a number.
    pub version: Value,
    /// Its weight: its share is this over the sum of all.
    pub weight: u64,
}

impl Rule {
    /// Reads the rules of a job type.
    ///
    /// # Errors
    /// 400 with `details.field`.
    pub(crate) fn parse_all(value: Option<&Value>) -> Result<Vec<Self>, OjsError> {
        let fault = |message: String| OjsError::invalid_field("rules", message);
        let list = value.and_then(Value::as_array).filter(|list| (1..=MAX_RULES).contains(&list.len()));
        let list = list
            .ok_or_else(|| fault(format!("rules is required: an array of 1 to {MAX_RULES} objects with version and weight.")))?;
        let mut rules: Vec<Self> = Vec::with_capacity(list.len());
        let mut ranks = Vec::with_capacity(list.len());
        for entry in list {
            let version = Version::from_json(entry.get("version"))
                .map_err(|error| error.with_details(json!({"field": "rules.version"})))?;
            let weight = entry.get("weight").and_then(Value::as_u64).filter(|weight| *weight <= MAX_WEIGHT);
            let weight = weight.ok_or_else(|| {
                let message = format!("rules.weight must be a whole number from 0 to {MAX_WEIGHT}.");
                OjsError::invalid_field("rules.weight", message)
            })?;
            if ranks.contains(&version.rank) {
                return Err(fault(format!("rules names version {version} twice.")));
            }
            ranks.push(version.rank);
            rules.push(Self { version: entry.get("version").cloned().unwrap_or_default(), weight });
        }
        if rules.iter().all(|rule| rule.weight == 0) {
            return Err(fault("One of rules must have a weight above 0.".to_owned()));
        }
        Ok(rules)
    }
}

/// The rules of a stored row.
pub(crate) fn rules_of(row: &RouteRow) -> Result<Vec<Rule>, StoreError> {
    serde_json::from_str(&row.rules).map_err(|error| {
        let job_type = &row.job_type;
        StoreError::Failed(format!(
            "the rules of job type '{job_type}' cannot be read ({error}): set them anew with PUT /ojs/v1/admin/routing/{job_type}"
        ))
    })
}

impl Rule {
    /// Its version as rows of jobs have it.
    pub(super) fn number(&self) -> Option<i64> {
        Version::from_json(Some(&self.version)).ok().map(|version| version.rank + 1)
    }
}

/// The rule of a job. The id decides, so a job that is sent again gets the same version.
fn chosen(rules: &[Rule], id: JobId) -> Option<&Rule> {
    let total: u64 = rules.iter().map(|rule| rule.weight).sum();
    // The last eight bytes of a UUIDv7 are random but for two bits at their beginning.
    let random = id.as_bytes().iter().skip(8).fold(0_u64, |number, byte| (number << 8 | u64::from(*byte)) & (u64::MAX >> 2));
    let mut place = random.checked_rem(total)?;
    rules.iter().find(|rule| {
        let found = place < rule.weight;
        place = place.saturating_sub(rule.weight);
        found
    })
}

impl Transaction<'_> {
    /// Gives jobs the versions that the rules of their types ask for.
    pub(super) fn route(&mut self, jobs: &[Arc<NewJob>], admission: &mut Admission) -> Applied<()> {
        if !self.tables.has_routes()? {
            return Ok(());
        }
        for (index, job) in jobs.iter().enumerate().filter(|(_, job)| job.version.is_none()) {
            let Some(routed) = self.routed(job)? else { continue };
            if let Some(slot) = admission.filled.get_or_insert_with(|| jobs.to_vec()).get_mut(index) {
                *slot = Arc::new(routed);
            }
        }
        Ok(())
    }

    /// The job with the version that the rules of its type ask for; `None` when there are none.
    fn routed(&mut self, job: &NewJob) -> Result<Option<NewJob>, StoreError> {
        let Some(row) = self.tables.route(&job.job_type)? else { return Ok(None) };
        let rules = rules_of(&row)?;
        let Some(rule) = chosen(&rules, job.id) else { return Ok(None) };
        Ok(with_version(job, &rule.version))
    }

    /// A step of a workflow has a version of its own. One that names none gets that of the rules, else the latest of
    /// the registered schemas of its type (interactions, section 12).
    pub(crate) fn version_of_step(&mut self, job: &NewJob) -> Applied<Option<NewJob>> {
        if job.version.is_some() {
            return Ok(None);
        }
        if let Some(routed) = self.routed(job)? {
            return Ok(Some(routed));
        }
        let latest = match self.tables.has_schemas()? {
            true => self.tables.schema_for(job.tenant.as_deref(), &job.job_type)?,
            false => None,
        };
        Ok(latest.and_then(|schema| with_version(job, &schema.version_json())))
    }
}

fn with_version(job: &NewJob, shown: &Value) -> Option<NewJob> {
    let version = Version::from_json(Some(shown)).ok()?;
    let mut job = job.clone();
    job.fill_version(&version, &shown.to_string());
    Some(job)
}

/// Set the rules of a job type.
#[derive(Debug, Clone)]
pub struct PutRoute {
    /// The job type.
    pub job_type: String,
    /// Its rules.
    pub rules: Vec<Rule>,
    /// When the server takes a version out of them.
    pub rollback: Option<Rollback>,
}

impl Command for PutRoute {
    /// The rules as they are kept, and whether there were any before.
    type Reply = (RouteRow, bool);

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<Self::Reply> {
        let tables = &mut *transaction.tables;
        let known = tables.route(&self.job_type)?.is_some();
        if !known && tables.count_routes()? >= MAX_ROUTED {
            let message = format!("{MAX_ROUTED} job types have rules, which is the most that a server keeps.");
            let details = json!({"reason": "too_many_routes", "max_routes": MAX_ROUTED});
            return Err(OjsError::new(ErrorCode::Conflict, message).with_details(details).into());
        }
        let row = RouteRow {
            job_type: self.job_type.clone(),
            rules: json!(self.rules).to_string(),
            updated_at: transaction.now.as_millis(),
            rollback: self.rollback.as_ref().map_or_else(String::new, |rollback| rollback.to_json().to_string()),
            rolled_back: String::new(),
        };
        // What failed under the rules before says nothing about these.
        transaction.tables.forget_attempts(&self.job_type)?;
        transaction.tables.put_route(&row)?;
        Ok((row, known))
    }
}

/// Delete the rules of a job type. Jobs keep the versions that they have.
#[derive(Debug, Clone)]
pub struct DeleteRoute(pub String);

impl Command for DeleteRoute {
    type Reply = ();

    fn apply(&self, transaction: &mut Transaction<'_>) -> Applied<()> {
        found(transaction.tables, &self.0)?;
        transaction.tables.forget_attempts(&self.0)?;
        Ok(transaction.tables.delete_route(&self.0)?)
    }
}

/// The rules of a job type.
#[derive(Debug, Clone)]
pub struct GetRoute(pub String);

impl Query for GetRoute {
    type Reply = RouteRow;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<RouteRow> {
        found(tables, &self.0)
    }
}

fn found(tables: &mut dyn Tables, job_type: &str) -> Applied<RouteRow> {
    tables.route(job_type)?.ok_or_else(|| OjsError::not_found("routing", job_type).into())
}
