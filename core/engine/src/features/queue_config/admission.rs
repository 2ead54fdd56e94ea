//! What a queue says to a job that wants in: draining, types, bounds (extensions section 5), before anything is stored.
use std::sync::Arc;

use ojs_model::{ErrorCode, JobState, NewJob, OjsError};
use serde_json::json;

use crate::error::{Applied, Blocked, Refusal, StoreError};
use crate::features::queue_config::records::{Overflow, QueueConfig, WARNING_THRESHOLD};
use crate::features::queue_config::rules::filled;
use crate::kernel::admission::Admission;
use crate::kernel::job::JobRow;
use crate::kernel::placed::{Placed, Pressure};
use crate::kernel::transaction::Transaction;
use crate::kernel::wake::Signal;
use crate::store::rows::{Counts, QueuePhase, QueueRow, WAITING, depth};

/// What one queue is asked to take.
struct Demand<'j> {
    queue: QueueRow,
    jobs: u64,
    bytes: u64,
    first: &'j NewJob,
}

/// What one queue holds.
struct Load {
    depth: u64,
    bytes: u64,
}

impl Transaction<'_> {
    /// Asks the queues of some jobs; refuses all when one cannot be taken. A queue without settings costs a look at a map.
    pub(crate) fn admit(&mut self, jobs: &[Arc<NewJob>], admission: &mut Admission) -> Applied<()> {
        let mut demands: Vec<Demand<'_>> = Vec::new();
        let mut current: Option<QueueRow> = None;
        let mut job_type = "";
        for (index, job) in jobs.iter().enumerate() {
            let queue = match current.take().filter(|queue| *queue.name == *job.queue) {
                Some(queue) => queue,
                None => self.queue_to_be(&job.queue)?,
            };
            admission.makes_more |= queue.num == 0 || job.max_per_second.is_some();
            if !admission.makes_more && job_type != job.job_type {
                job_type = &job.job_type;
                admission.makes_more = self.tables.find_job_type_id(job_type)?.is_none();
            }
            if queue.phase == QueuePhase::Draining {
                return Err(draining(&queue.name).into());
            }
            if let Some(settings) = queue.settings()? {
                check_type(&settings.config, job, index, jobs.len())?;
                if settings.config.has_defaults() {
                    let all = admission.filled.get_or_insert_with(|| jobs.to_vec());
                    if let Some(slot) = all.get_mut(index) {
                        *slot = Arc::new(filled(slot, &settings.config)?);
                    }
                }
                if settings.config.is_bounded() && self.takes_a_place(job)? {
                    add(&mut demands, &queue, job);
                }
            }
            current = Some(queue);
        }
        for demand in &demands {
            self.judge_demand(demand, admission)?;
        }
        for demand in demands {
            if crosses_threshold(&demand, admission) {
                admission.crossed.push(demand.queue.name);
            }
        }
        Ok(())
    }

    /// Makes room by discarding victims, and says how full the queues are.
    pub(crate) fn after_admission(&mut self, admission: &mut Admission, placed: &mut [Placed]) -> Result<(), StoreError> {
        self.drop_victims(std::mem::take(&mut admission.victims))?;
        for (queue, pressure) in std::mem::take(&mut admission.pressure) {
            // Not before the jobs are stored: an enqueue that is refused leaves no event.
            if admission.crossed.contains(&queue) {
                let extra = queue_extra(&queue, pressure.depth, Some(pressure.bound));
                self.journal.other("backpressure.warning", self.now, &queue, &extra);
            }
            for placed in placed.iter_mut().filter(|placed| placed.job.queue == queue) {
                placed.pressure = Some(pressure);
            }
        }
        Ok(())
    }

    /// Whether a job adds to what waits: one that duplicates or replaces a waiting job does not.
    fn takes_a_place(&mut self, job: &NewJob) -> Result<bool, StoreError> {
        let Some(policy) = &job.unique else { return Ok(true) };
        let twin = self.conflicting(policy)?;
        Ok(twin.is_none_or(|twin| !WAITING.contains(&twin.state)))
    }

    fn judge_demand(&mut self, demand: &Demand<'_>, admission: &mut Admission) -> Applied<()> {
        // Exact among several writers: who counts holds the queue until its commit.
        let queue = match demand.queue.num {
            0 => demand.queue.clone(),
            num => self.tables.lock_queue(num)?,
        };
        let Some(settings) = queue.settings()? else { return Ok(()) };
        let config = &settings.config;
        let load = self.load(&queue, config)?;
        let jobs_over = config.bound().map_or(0, |bound| (load.depth + demand.jobs).saturating_sub(bound));
        let bytes_over = config.byte_bound().map_or(0, |bound| (load.bytes + demand.bytes).saturating_sub(bound));
        let mut depth = load.depth + demand.jobs;
        if jobs_over > 0 || bytes_over > 0 {
            let strategy = config.overflow_policy.unwrap_or_default();
            let victims = match strategy {
                Overflow::DropOldest => self.victims(queue.num, jobs_over, bytes_over)?,
                Overflow::Reject | Overflow::Block => None,
            };
            let Some(victims) = victims else {
                let error = full(&queue.name, &load, config, strategy, demand.jobs);
                if strategy == Overflow::Block {
                    return Err(Refusal::Blocked(Box::new(Blocked { queue: queue.name.to_string(), error })));
                }
                self.emit_full(&queue, &load, config, &demand.first.job_type);
                return Err(error.into());
            };
            depth = depth.saturating_sub(victims.len() as u64);
            admission.victims.extend(victims);
        }
        if let Some(bound) = config.bound()
            && depth as f64 >= bound as f64 * config.warning_threshold.unwrap_or(WARNING_THRESHOLD)
        {
            admission.pressure.push((Arc::clone(&queue.name), Pressure { depth, bound }));
        }
        Ok(())
    }

    fn load(&mut self, queue: &QueueRow, config: &QueueConfig) -> Result<Load, StoreError> {
        let counts = self.counts_now(queue.num)?;
        let mut bytes = 0;
        if config.byte_bound().is_some() {
            for state in WAITING.into_iter().filter(|state| counts.get(*state as usize).is_some_and(|jobs| *jobs > 0)) {
                bytes += self.tables.bytes_in(queue.num, state)?;
            }
        }
        Ok(Load { depth: depth(&counts), bytes: u64::try_from(bytes).unwrap_or(0) })
    }

    /// The oldest available jobs that make so much room together; `None` when there are not enough.
    fn victims(&mut self, queue: i64, jobs: u64, bytes: u64) -> Result<Option<Vec<JobRow>>, StoreError> {
        /// A job is never smaller than its id and type: so many always hold the bytes wanted.
        const SMALLEST: u64 = 64;
        let limit = usize::try_from(jobs.max(bytes / SMALLEST + u64::from(bytes > 0))).unwrap_or(usize::MAX);
        let (mut freed_jobs, mut freed_bytes) = (0, 0);
        let mut victims = Vec::new();
        for row in self.tables.oldest(queue, limit)? {
            if freed_jobs >= jobs && freed_bytes >= bytes {
                break;
            }
            freed_jobs += 1;
            if bytes > 0 {
                freed_bytes += self.tables.body(row.seq)?.text.len() as u64;
            }
            victims.push(row);
        }
        Ok((freed_jobs >= jobs && freed_bytes >= bytes).then_some(victims))
    }

    /// Discards the jobs that make room. One that has moved on meanwhile, replaced by the new job, has made room already.
    pub(crate) fn drop_victims(&mut self, victims: Vec<JobRow>) -> Result<(), StoreError> {
        for victim in victims {
            let now = self.tables.row(victim.id)?.filter(|row| row.state == JobState::Available);
            let Some(row) = now else { continue };
            let name = self.tables.queue_by_num(row.queue)?.name;
            let mut extra = String::new();
            ojs_model::json::push_bare(&mut extra, "reason", "\"overflow\"");
            if let Some(Pressure { depth, bound }) = self.pressure_of(row.queue)? {
                ojs_model::json::push_bare(&mut extra, "depth", depth);
                ojs_model::json::push_bare(&mut extra, "bound", bound);
            }
            self.emit("backpressure.dropped", &row, &extra)?;
            self.throw_away(&row, "overflow", format!("Queue '{name}' was full and its oldest job made room."))?;
        }
        Ok(())
    }

    fn pressure_of(&mut self, queue: i64) -> Result<Option<Pressure>, StoreError> {
        let settings = self.tables.queue_by_num(queue)?.settings()?;
        let Some(bound) = settings.and_then(|settings| settings.config.bound()) else { return Ok(None) };
        Ok(Some(Pressure { depth: depth(&self.counts_now(queue)?), bound }))
    }

    fn emit_full(&mut self, queue: &QueueRow, load: &Load, config: &QueueConfig, job_type: &str) {
        let mut extra = queue_extra(&queue.name, load.depth, config.bound());
        ojs_model::json::push_text(&mut extra, "job_type", job_type);
        self.journal.other("backpressure.rejected", self.now, &queue.name, &extra);
        // A queue that does not exist yet has no figures.
        if queue.num != 0 {
            self.journal.tally.refused(queue.num, &queue.name, job_type);
        }
    }

    /// An enqueue that was allowed to wait for room has been refused after all.
    pub(crate) fn emit_full_after_wait(&mut self, name: &str, job_type: &str) -> Applied<()> {
        let queue = self.queue_for_use(name)?;
        if let Some(settings) = queue.settings()? {
            let load = self.load(&queue, &settings.config)?;
            self.emit_full(&queue, &load, &settings.config, job_type);
        }
        Ok(())
    }

    /// At the end of a transaction: queues that fell below their threshold say so, and those with new room call who waits for it.
    pub(crate) fn emit_relief(&mut self) -> Result<(), StoreError> {
        let changed: Vec<(i64, Counts)> = self.counts.iter().map(|(queue, delta)| (*queue, *delta)).collect();
        for (num, delta) in changed {
            let fewer = WAITING.into_iter().filter_map(|state| delta.get(state as usize)).sum::<i64>() < 0;
            let freed = delta.get(JobState::Active as usize).copied().unwrap_or(0) < 0;
            if !fewer && !freed {
                continue;
            }
            let queue = self.tables.queue_by_num(num)?;
            // A job whose queue has unreadable settings ends all the same.
            let Some(settings) = queue.settings.known() else { continue };
            if freed && settings.config.concurrency.is_some() {
                *self.ready.entry(num).or_default() += 1;
            }
            if fewer && settings.config.is_bounded() {
                self.signal_room(&queue);
                self.emit_cleared(&queue, &settings.config)?;
            }
        }
        Ok(())
    }

    fn emit_cleared(&mut self, queue: &QueueRow, config: &QueueConfig) -> Result<(), StoreError> {
        let Some(bound) = config.bound() else { return Ok(()) };
        let threshold = config.warning_threshold.unwrap_or(WARNING_THRESHOLD) * bound as f64;
        let before = depth(&self.tables.counts(queue.num)?);
        let after = depth(&self.counts_now(queue.num)?);
        if before as f64 >= threshold && (after as f64) < threshold {
            let extra = queue_extra(&queue.name, after, Some(bound));
            self.journal.other("backpressure.cleared", self.now, &queue.name, &extra);
        }
        Ok(())
    }

    /// Lets enqueues that wait for room in a queue try again.
    pub(crate) fn signal_room(&mut self, queue: &QueueRow) {
        self.signals.push(Signal::Room(queue.name.to_string()));
    }
}

fn add<'j>(demands: &mut Vec<Demand<'j>>, queue: &QueueRow, job: &'j NewJob) {
    let known = demands.iter().position(|demand| demand.queue.name == queue.name);
    let index = known.unwrap_or_else(|| {
        demands.push(Demand { queue: queue.clone(), jobs: 0, bytes: 0, first: job });
        demands.len() - 1
    });
    if let Some(demand) = demands.get_mut(index) {
        demand.jobs += 1;
        demand.bytes += job.body.len() as u64;
    }
}

fn queue_extra(name: &str, depth: u64, bound: Option<u64>) -> String {
    let mut extra = String::new();
    ojs_model::json::push_text(&mut extra, "queue", name);
    ojs_model::json::push_bare(&mut extra, "depth", depth);
    if let Some(bound) = bound {
        ojs_model::json::push_bare(&mut extra, "bound", bound);
    }
    extra
}

fn check_type(config: &QueueConfig, job: &NewJob, index: usize, of: usize) -> Result<(), OjsError> {
    if config.allows(&job.job_type) {
        return Ok(());
    }
    let allowed = config.allowed_job_types.clone().unwrap_or_default();
    let field = if of > 1 { format!("jobs[{index}].type") } else { "type".to_owned() };
    let message = format!("Queue '{}' takes no jobs of type '{}'.", job.queue, job.job_type);
    Err(OjsError::new(ErrorCode::InvalidPayload, message)
        .with_details(json!({"field": field, "index": index, "queue": job.queue, "allowed_job_types": allowed}))
        .with_hint("Use a type that the queue allows, or change allowed_job_types in its configuration."))
}

fn draining(name: &str) -> OjsError {
    OjsError::new(ErrorCode::QueuePaused, format!("Queue '{name}' is draining: it takes no new jobs."))
        .with_details(json!({"queue": name, "state": "draining"}))
        .with_hint("Enqueue elsewhere, or resume the queue.")
}

/// 429 with the literal code that the extension prints.
fn full(name: &str, load: &Load, config: &QueueConfig, strategy: Overflow, wanted: u64) -> OjsError {
    let bound = config.bound().or(config.byte_bound()).unwrap_or(0);
    let never = config.bound().is_some_and(|bound| wanted > bound);
    let message = match config.bound() {
        Some(bound) if never => format!("{wanted} jobs never fit into queue '{name}', which holds at most {bound}."),
        Some(bound) if load.depth + wanted > bound => {
            format!("Queue '{name}' is full: {} of {bound} jobs wait in it.", load.depth)
        }
        _ => format!("Queue '{name}' is full: {} of {} bytes wait in it.", load.bytes, config.byte_bound().unwrap_or(0)),
    };
    let mut error = OjsError::new(ErrorCode::QueueFull, message).with_details(json!({
        "queue": name, "depth": load.depth, "bound": bound, "strategy": strategy.as_str(), "retry_after_seconds": 1,
    }));
    if never {
        error = error.with_hint("Split the batch.");
    }
    error.code = "QUEUE_FULL".into();
    error
}

/// Whether a queue has more jobs than its warning threshold, and had not before this enqueue.
fn crosses_threshold(demand: &Demand<'_>, admission: &Admission) -> bool {
    let pressure = admission.pressure.iter().find(|(queue, _)| *queue == demand.queue.name);
    let (Some((_, pressure)), Some(settings)) = (pressure, demand.queue.settings.known()) else { return false };
    let threshold = settings.config.warning_threshold.unwrap_or(WARNING_THRESHOLD) * pressure.bound as f64;
    (pressure.depth.saturating_sub(demand.jobs) as f64) < threshold
}
