//! Dead letters: what is counted, and what may be changed when one is run again (protocol section 8.9).
use std::collections::BTreeMap;

use ojs_model::json::{members, object, push_member};
use ojs_model::limits::MAX_META_BYTES;
use ojs_model::{ErrorCode, NewJob, OjsError, Timestamp, json as text};
use serde_json::Value;

use crate::error::Result;
use crate::kernel::job::{Body, JobView};
use crate::store::listing::ListPlace;
use crate::store::names::NameTables;

/// How many dead letters there are, by what, and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeadStats {
    /// All of them.
    pub total: u64,
    /// By name of the queue.
    pub by_queue: BTreeMap<String, u64>,
    /// By type of the latest error.
    pub by_error_type: BTreeMap<String, u64>,
    /// When the oldest was discarded, milliseconds.
    pub oldest_at: Option<i64>,
    /// When the newest was discarded, milliseconds.
    pub newest_at: Option<i64>,
    /// There are more than were counted one by one: the numbers by error are those of the newest.
    pub is_partial: bool,
}

/// A page of dead letters, newest first.
#[derive(Debug, Clone)]
pub struct DeadPage {
    /// The page.
    pub jobs: Vec<JobView>,
    /// How many the filter finds.
    pub total: usize,
    /// There may be more than `total`: it counts those among the newest ones.
    pub is_partial: bool,
    /// Where the next page begins, when there may be one. Looking for the jobs of this one may have ended before it
    /// was full.
    pub next: Option<ListPlace>,
}

impl DeadPage {
    /// The part of the answer that says that `total` is a lower bound.
    #[must_use]
    pub fn relation(&self) -> Option<(String, Value)> {
        self.is_partial.then(|| ("total_relation".to_owned(), Value::from("gte")))
    }
}

/// The number under which the dead letters of a queue are counted beside the jobs in its states, which have lower ones.
pub const COUNTED_AS: usize = 8;

/// Counting of dead letters, and the one change that a job's fixed part ever sees.
pub trait DeadTables: NameTables {
    /// How many dead letters each queue has, by its number: from the counts that are kept, without the queues that
    /// have none.
    fn dead_kept(&mut self) -> Result<Vec<(i64, i64)>>;
    /// What the number of each queue lacks: queues with their differences, as one snapshot shows them. It counts the
    /// dead letters one by one.
    fn dead_drift(&mut self) -> Result<Vec<(i64, i64)>>;
    /// Counts those of a tenant, or all, among the newest `look` dead letters.
    fn dead_stats(&mut self, tenant: Option<i64>, look: usize) -> Result<DeadStats>;
    /// Replaces the fixed part of a job.
    fn set_body(&mut self, seq: i64, body: &Body) -> Result<()>;

    /// How many dead letters there are, from the counts that are kept.
    fn dead_count(&mut self) -> Result<usize> {
        let kept: i64 = self.dead_kept()?.iter().map(|(_, jobs)| jobs).sum();
        Ok(usize::try_from(kept).unwrap_or(0))
    }
    /// The counts that are kept, by name of the queue.
    fn dead_by_queue(&mut self) -> Result<BTreeMap<String, u64>> {
        let kept = self.dead_kept()?.into_iter();
        kept.map(|(queue, jobs)| Ok((self.queue_by_num(queue)?.name.to_string(), u64::try_from(jobs).unwrap_or(0)))).collect()
    }
}

/// What an operator changes in a job before it runs again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Override {
    /// Another queue.
    pub queue: Option<String>,
    /// Another priority.
    pub priority: Option<i32>,
    /// Other arguments, a JSON array.
    pub args: Option<String>,
    /// Members added to `meta`, or replaced there, as a JSON object.
    pub meta: Option<String>,
    /// Fields of the retry policy; those not named stay as they are.
    pub retry: Option<Value>,
}

impl Override {
    /// Reads the `override` member of a retry. The rules are those of an enqueue.
    ///
    /// # Errors
    /// 400 `invalid_payload` and 422, as for an enqueue; a name that cannot be overridden is refused.
    pub fn parse(raw: &str, now: Timestamp) -> std::result::Result<Self, OjsError> {
        const NAMES: &[&str] = &["queue", "priority", "args", "meta", "retry"];
        let given = members(raw).map_err(|_| OjsError::invalid_field("override", "override must be an object."))?;
        if let Some((name, _)) = given.iter().find(|(name, _)| !NAMES.contains(&&**name)) {
            let message = format!("override.{name} cannot be overridden; use {}.", NAMES.join(", "));
            return Err(OjsError::invalid_field("override", message));
        }
        let get = |wanted: &str| given.iter().find(|(name, raw)| name == wanted && *raw != "null").map(|(_, raw)| *raw);
        // An enqueue of the same values has the same faults.
        let mut probe = String::from("{\"type\":\"override\"");
        push_member(&mut probe, "args", get("args").unwrap_or("[]"));
        for name in ["queue", "priority", "meta", "retry"] {
            if let Some(raw) = get(name) {
                push_member(&mut probe, name, raw);
            }
        }
        probe.push('}');
        let job = NewJob::parse(&probe, now)?;
        if job.train.is_some() {
            let message = "override.meta.train_id cannot be overridden: a job stays in its train.";
            return Err(OjsError::invalid_field("override.meta.train_id", message));
        }
        Ok(Self {
            queue: get("queue").map(|_| job.queue),
            priority: get("priority").map(|_| job.priority),
            args: get("args").map(str::to_owned),
            meta: get("meta").map(str::to_owned),
            retry: get("retry").and_then(|raw| serde_json::from_str(raw).ok()),
        })
    }

    /// Whether the fixed part of the job changes.
    #[must_use]
    pub fn changes_body(&self) -> bool {
        self.args.is_some() || self.meta.is_some() || self.retry.is_some()
    }

    /// The text of a job with the changed members in their old places.
    ///
    /// # Errors
    /// 413 when `meta` becomes too large.
    pub fn apply(&self, old: &str, retry: Option<&str>) -> std::result::Result<String, OjsError> {
        let object = object(old);
        let Ok(known) = members(&object) else {
            return Err(OjsError::new(ErrorCode::InternalError, "The stored job cannot be read; retry it without an override."));
        };
        let mut out = String::with_capacity(object.len());
        for (name, raw) in &known {
            match (&**name, &self.args, &self.meta, retry) {
                ("args", Some(args), _, _) => push_member(&mut out, "args", args),
                ("meta", _, Some(meta), _) => push_member(&mut out, "meta", &merged(raw, meta)?),
                ("retry", _, _, Some(_)) => {}
                _ => push_member(&mut out, name, raw),
            }
        }
        if let Some(retry) = retry {
            push_member(&mut out, "retry", retry);
        }
        Ok(out)
    }
}

/// Both objects in one; `over` wins on equal names.
fn merged(base: &str, over: &str) -> std::result::Result<String, OjsError> {
    let fault = |_| OjsError::invalid_field("override", "override.meta must be an object.");
    let (base, over) = (members(base).map_err(fault)?, members(over).map_err(fault)?);
    let mut out = String::from("{");
    let kept = base.iter().filter(|(name, _)| !over.iter().any(|(other, _)| other == name));
    for (name, raw) in kept.chain(&over) {
        push_member(&mut out, name, raw);
    }
    out.push('}');
    let bytes = text::compact_len(&out);
    if bytes > MAX_META_BYTES {
        let message = format!("meta has {bytes} bytes with the override; the limit is {MAX_META_BYTES}.");
        return Err(OjsError::new(ErrorCode::MetadataTooLarge, message));
    }
    Ok(out)
}
