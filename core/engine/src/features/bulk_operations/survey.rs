//! What an operation would find: bounded counts and a few of the jobs, before anything is changed.
use std::collections::BTreeMap;

use ojs_model::JobState;
use serde_json::{Value, json};

use super::plan::{Place, Plan};
use super::records::Relation;
use crate::error::{Applied, StoreError};
use crate::kernel::job::JobRow;
use crate::kernel::typed::Query;
use crate::store::listing::STEP;
use crate::store::tables::Tables;

/// Windows that it looks at, at most: 50,000 rows.
const WINDOWS: usize = 10;
/// Jobs that are shown.
const SAMPLE: usize = 10;
/// Groups that are shown; the rest is counted together.
const GROUPS: usize = 20;

/// Looks at the first jobs that a plan finds.
#[derive(Debug)]
pub(crate) struct Survey(pub(crate) Plan);

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    /// How many jobs.
    matched: usize,
    /// Whether these are all.
    is_complete: bool,
    /// How many there are in all, as far as counts say it.
    about: Option<usize>,
    by_state: BTreeMap<&'static str, usize>,
    by_queue: BTreeMap<String, usize>,
    by_type: BTreeMap<String, usize>,
    sample: Vec<Value>,
}

impl Query for Survey {
    type Reply = Surveyed;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Surveyed> {
        let mut surveyed = Surveyed::default();
        let mut next = Some(Place::default());
        for _ in 0..WINDOWS {
            let Some(place) = next else { break };
            let (rows, behind) = self.0.window(tables, place, STEP)?;
            surveyed.add(tables, &rows)?;
            next = behind;
        }
        surveyed.is_complete = next.is_none();
        if !surveyed.is_complete {
            surveyed.about = counted(tables, &self.0)?.map(|jobs| jobs.max(surveyed.matched));
        }
        Ok(surveyed)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// How many jobs a plan will find, from the counts that are kept anyway; `None` where only a look at the jobs says it.
fn counted(tables: &mut dyn Tables, plan: &Plan) -> Result<Option<usize>, StoreError> {
    if !plan.is_plain {
        return Ok(None);
    }
    let queue = match &plan.filter.filter.queue {
        Some(name) => Some(tables.find_queue(name)?.map_or(0, |queue| queue.num)),
        None => None,
    };
    let counts = tables.visible_counts(queue)?;
    let of = |state: &JobState| counts.iter().filter_map(|(_, counts)| counts.get(*state as usize)).sum::<i64>();
    Ok(usize::try_from(plan.filter.states.iter().map(of).sum::<i64>()).ok())
}

impl Surveyed {
    fn add(&mut self, tables: &mut dyn Tables, rows: &[JobRow]) -> Result<(), StoreError> {
        self.matched += rows.len();
        let (mut queues, mut types): (BTreeMap<i64, usize>, BTreeMap<i64, usize>) = Default::default();
        for row in rows {
            *self.by_state.entry(row.state.as_str()).or_default() += 1;
            *queues.entry(row.queue).or_default() += 1;
            *types.entry(row.job_type_id).or_default() += 1;
        }
        for (num, jobs) in queues {
            *self.by_queue.entry(tables.queue_by_num(num)?.name.to_string()).or_default() += jobs;
        }
        for (num, jobs) in types {
            *self.by_type.entry(tables.job_type_name(num)?.to_string()).or_default() += jobs;
        }
        for row in rows.iter().take(SAMPLE - self.sample.len().min(SAMPLE)) {
            let (queue, job_type) = (tables.queue_by_num(row.queue)?.name, tables.job_type_name(row.job_type_id)?);
            self.sample.push(json!({
                "id": row.id.to_string(), "type": job_type.to_string(), "queue": &*queue, "state": row.state.as_str(),
            }));
        }
        Ok(())
    }

    /// How many jobs there are, and what that number is.
    pub(crate) fn expected(&self) -> (usize, Relation) {
        match self.about {
            _ if self.is_complete => (self.matched, Relation::Exact),
            Some(jobs) => (jobs, Relation::About),
            None => (self.matched, Relation::AtLeast),
        }
    }

    /// The answer to a request that changes nothing.
    pub(crate) fn to_value(&self, plan: &Plan) -> Value {
        let (matched, relation) = self.expected();
        json!({
            "dry_run": true, "action": plan.action.verb(), "matched": matched, "relation": relation.as_str(),
            "complete": self.is_complete, "looked_at": self.matched,
            "by_state": self.by_state, "by_queue": largest(&self.by_queue), "by_type": largest(&self.by_type),
            "sample": self.sample,
        })
    }
}

/// The largest groups by name, the largest first; the others together.
fn largest(groups: &BTreeMap<String, usize>) -> Vec<Value> {
    let mut all: Vec<(&String, &usize)> = groups.iter().collect();
    all.sort_by_key(|(name, jobs)| (std::cmp::Reverse(**jobs), (*name).clone()));
    let rest: usize = all.iter().skip(GROUPS).map(|(_, jobs)| **jobs).sum();
    let mut shown: Vec<Value> = all.into_iter().take(GROUPS).map(|(name, jobs)| json!({"name": name, "jobs": jobs})).collect();
    if rest > 0 {
        shown.push(json!({"name": null, "jobs": rest}));
    }
    shown
}
