//! What would come of a replay: which dead letters would be refused, which would wait and for what, and which would run
//! although an enqueue of the same job would be refused. Nothing is changed.
use std::collections::{HashMap, HashSet};

use ojs_model::json::{object, push_text};
use ojs_model::state::Trigger;
use ojs_model::{JobId, JobState, NewJob, OjsError, Timestamp, UniquePolicy};
use serde_json::{Value, json};

use crate::error::{Applied, StoreError};
use crate::features::dead_letters::rules::compares_a_part;
use crate::features::explain::answer;
use crate::features::explain::commands::obstacles;
use crate::kernel::explanation::{Explanation, Reason};
use crate::kernel::forecast::{Effect, Forecast};
use crate::kernel::holds::Holds;
use crate::kernel::job::{JobRow, JobView};
use crate::kernel::typed::Query;
use crate::store::listing::LOOK as COMPARED;
use crate::store::rows::DeadFilter;
use crate::store::tables::Tables;

/// Most dead letters that one preview looks at.
const LOOK: usize = 500;
/// Ids that one preview takes.
pub(super) const MAX_IDS: usize = 100;
/// Reasons that are listed with their own sentence; further ones are counted by their code only.
const REASONS: usize = 50;
/// Jobs whose own reasons are shown.
const SHOWN: usize = 20;
/// Reasons that hold a job only until other jobs end. A preview leaves them out, because a replayed job waits in line
/// as every other one does.
const MOMENTARY: [&str; 4] = ["workers_full", "queue_rate", "queue_concurrency", "pool_concurrency"];

/// Which dead letters.
#[derive(Debug, Clone)]
pub(crate) enum Which {
    /// Those that a filter finds, the newest first.
    Found(DeadFilter),
    /// These jobs.
    Named(Vec<JobId>),
}

/// Reads what would happen to dead letters that were replayed now.
#[derive(Debug, Clone)]
pub(crate) struct PreviewReplay {
    pub(crate) which: Which,
    pub(crate) at: Timestamp,
}

/// One reason, and how many jobs it applies to.
#[derive(Debug)]
struct Met {
    effect: Effect,
    reason: Reason,
    jobs: usize,
    first: JobId,
}

/// The counts, the reasons and the first jobs of a preview.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    matched: usize,
    /// More may match: the filter was compared with a part of the dead letters.
    is_partial: bool,
    looked_at: usize,
    runs: usize,
    waits: usize,
    refused: usize,
    warned: usize,
    met: Vec<Met>,
    shown: Vec<Value>,
}

impl Query for PreviewReplay {
    type Reply = Preview;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Preview> {
        let mut preview = Preview::default();
        let mut looker = Looker { at: self.at, taken: HashSet::new(), known: HashMap::new() };
        match &self.which {
            Which::Found(filter) => {
                let filter = filter.compared_with(COMPARED);
                preview.matched = tables.dead_found(&filter)?;
                preview.is_partial = compares_a_part(tables, &filter)?;
                for row in tables.dead(&DeadFilter { limit: LOOK, ..filter })? {
                    let (id, reasons) = (row.id, looker.look(tables, row)?);
                    preview.add(id, reasons);
                }
            }
            Which::Named(ids) => {
                preview.matched = ids.len();
                for id in ids {
                    let reasons = match tables.visible(*id)? {
                        Some(row) => looker.look(tables, row)?,
                        None => vec![refused(&OjsError::not_found("dead letter", &id.to_string()))],
                    };
                    preview.add(*id, reasons);
                }
            }
        }
        Ok(preview)
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// What the jobs of one preview have in common.
struct Looker {
    at: Timestamp,
    taken: HashSet<String>,
    /// What holds all jobs of a queue, type, version and tenant.
    known: HashMap<Group, Vec<(Effect, Reason)>>,
}

/// Numbers of a queue, a job type, a version and a tenant.
type Group = (i64, i64, i64, i64);

impl Looker {
    /// Collects the reasons that apply to one job.
    fn look(&mut self, tables: &mut dyn Tables, before: JobRow) -> Result<Vec<(Effect, Reason)>, StoreError> {
        if !before.state.accepts(Trigger::Replay) {
            return Ok(vec![refused(&OjsError::wrong_state(before.id, before.state, "discarded"))]);
        }
        let (body, queue) = (tables.body(before.seq)?, tables.queue_by_num(before.queue)?.name);
        let row = JobRow { state: JobState::Available, holds: Holds::NONE, worker: 0, ..before };
        let history = Default::default();
        let job = JobView { row, body, history, queue, worker: None, train: None, delivered: String::new() };
        let shared = self.shared(tables, &job)?;
        let mut found = Forecast { job, at: self.at, taken: &mut self.taken, reasons: shared };
        for foresee in crate::features::HOOKS.iter().filter_map(|feature| feature.foresee) {
            foresee(tables, &mut found)?;
        }
        unique(tables, &mut found)?;
        Ok(found.reasons)
    }

    /// What holds every job like this one. It is read once: it depends on these four numbers only.
    fn shared(&mut self, tables: &mut dyn Tables, job: &JobView) -> Result<Vec<(Effect, Reason)>, StoreError> {
        let key = (job.row.queue, job.row.job_type_id, job.row.version, job.row.tenant);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let for_tenant = tables.names().scope.num().is_some();
        let mut found = Explanation { job: job.clone(), reasons: Vec::new(), at: self.at, for_tenant };
        obstacles(tables, &job.row, &mut found)?;
        let lasting = found.reasons.into_iter().filter(|reason| !MOMENTARY.contains(&reason.code));
        let reasons: Vec<_> = lasting.map(|reason| (Effect::Waits, reason)).collect();
        self.known.insert(key, reasons.clone());
        Ok(reasons)
    }
}

fn refused(error: &OjsError) -> (Effect, Reason) {
    let detail = error.details.as_ref().and_then(|details| details.get("reason")?.as_str());
    let code = if detail == Some("invalid_state_transition") { "invalid_state_transition" } else { "not_found" };
    (Effect::Refused, Reason::new(code, error.message.clone()))
}

/// Uniqueness is checked at an enqueue only (protocol section 2.2): a replayed job runs beside one with the same key.
fn unique(tables: &mut dyn Tables, found: &mut Forecast<'_>) -> Result<(), StoreError> {
    let job_type = tables.job_type_name(found.job.row.job_type_id)?;
    let Some(policy) = policy_of(&job_type, &found.job, found.at) else { return Ok(()) };
    let message = match tables.find_unique(&policy.key, &policy.live_states(), policy.since(found.at))? {
        Some(other) => format!("Job '{}' with the same uniqueness key is {}: both run.", other.id, other.state),
        None if found.taken.insert(format!("key {}", policy.key)) => return Ok(()),
        None => "Another one of these dead letters has the same uniqueness key: both run.".to_owned(),
    };
    let id = found.id();
    found.add(Effect::Warning, Reason::new("unique_key_held", message).command(format!("ojs dead-letter delete {id}")));
    Ok(())
}

/// The policy with which a job was enqueued, from its stored text.
fn policy_of(job_type: &str, job: &JobView, now: Timestamp) -> Option<UniquePolicy> {
    if !job.body.text.contains("\"unique\"") {
        return None;
    }
    let mut head = String::new();
    push_text(&mut head, "type", job_type);
    push_text(&mut head, "queue", &job.queue);
    let text = object(&format!("{head},{}", job.body.text));
    NewJob::parse(&text, now).ok()?.unique
}

impl Preview {
    fn add(&mut self, id: JobId, reasons: Vec<(Effect, Reason)>) {
        self.looked_at += 1;
        match reasons.iter().map(|(effect, _)| *effect).max() {
            Some(Effect::Refused) => self.refused += 1,
            Some(Effect::Waits) => self.waits += 1,
            Some(Effect::Warning) | None => self.runs += 1,
        }
        self.warned += usize::from(reasons.iter().any(|(effect, _)| *effect == Effect::Warning));
        if self.shown.len() < SHOWN && !reasons.is_empty() {
            let told: Vec<Value> = reasons.iter().map(|(effect, reason)| told(*effect, reason)).collect();
            self.shown.push(json!({"job_id": id.to_string(), "reasons": told}));
        }
        for (effect, reason) in reasons {
            self.meet(id, effect, reason);
        }
    }

    /// Counts a reason. Refusals and warnings are counted by their code. Reasons to wait are counted by their message,
    /// which names the queue, and by their code when there are too many.
    fn meet(&mut self, id: JobId, effect: Effect, reason: Reason) {
        let is_full = self.met.len() >= REASONS;
        let by_code = is_full || effect != Effect::Waits;
        let same = |met: &&mut Met| {
            let is_same = met.effect == effect && met.reason.code == reason.code;
            is_same && (by_code || met.reason.message == reason.message)
        };
        match self.met.iter_mut().find(same) {
            Some(met) => met.jobs += 1,
            None => self.met.push(Met { effect, reason, jobs: 1, first: id }),
        }
    }

    /// The answer: the reasons that keep most jobs from running come first.
    pub(super) fn into_value(mut self) -> Value {
        self.met.sort_by_key(|met| std::cmp::Reverse((met.effect, met.jobs)));
        let reasons: Vec<Value> = self.met.iter().map(Met::to_value).collect();
        let mut preview = json!({
            "dry_run": true, "action": "retry", "matched": self.matched, "looked_at": self.looked_at,
            "complete": self.looked_at >= self.matched && !self.is_partial, "would_run": self.runs, "would_wait": self.waits,
            "would_be_refused": self.refused, "with_warnings": self.warned, "reasons": reasons, "jobs": self.shown,
        });
        if let Some(preview) = preview.as_object_mut().filter(|_| self.is_partial) {
            preview.insert("matched_relation".into(), json!("gte"));
        }
        preview
    }
}

impl Met {
    fn to_value(&self) -> Value {
        let mut object = told(self.effect, &self.reason);
        if let Value::Object(members) = &mut object {
            members.extend([("jobs".to_owned(), json!(self.jobs)), ("job_id".to_owned(), json!(self.first.to_string()))]);
        }
        object
    }
}

fn told(effect: Effect, reason: &Reason) -> Value {
    let mut object = answer::reason(reason);
    if let Value::Object(members) = &mut object {
        members.insert("effect".to_owned(), json!(effect.as_str()));
    }
    object
}
