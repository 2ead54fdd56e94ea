//! Rules of keys with limits: who may start, who is held back, who comes next (extensions section 4).
//!
//! The check at the claim decides, under the key's lock. Parking only keeps claims from passing over the same jobs again: a queue's line holds
//! at most as many jobs of a key as the key has room for, and a better one that arrives later.
use ojs_model::rate_limit::{Limits, OnLimit, RateLimit, RetryPriority, Window};
use ojs_model::state::Trigger;
use ojs_model::{JobError, JobId, JobState, NewJob, OjsError, Timestamp};

use crate::error::{Applied, StoreError};
use crate::features::limits::gate::Gate;
use crate::features::limits::records::{LimitRow, LimitView, ParkedQueue, Standing, StoredLimits};
use crate::kernel::holds::Holds;
use crate::kernel::job::{JobRow, Line};
use crate::kernel::placed::{KeyState, Placed};
use crate::kernel::transaction::Transaction;
use crate::store::tables::Tables;

/// Jobs brought back into line, or keys opened, by one transaction.
const SLICE: usize = 500;
/// How far a preferred job moves in its queue's line: beyond any ticket of a job that is not.
const AHEAD: i64 = 1 << 61;
/// When a rescheduled job comes back whose key has no slot: it is not known when one becomes free.
const RETRY_SLOT_MS: i64 = 1_000;

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Milliseconds between two starts.
fn gap(throttle: Window) -> i64 {
    signed(throttle.period_ms.div_ceil(throttle.limit.max(1)))
}

/// Looks at a key.
pub(super) fn look(tables: &mut dyn Tables, row: LimitRow, now: i64) -> Result<Gate, StoreError> {
    let limits = row.now(now)?;
    let mut gate = Gate { limits, free: i64::MAX, next_at: 0, strategy: "none", most: 0, used: 0, told: false, row };
    if let Some(most) = limits.concurrency {
        let running = tables.running(gate.row.num)?;
        gate.narrow("concurrency", signed(most), running, 0);
    }
    if let Some(rate) = limits.rate {
        let used = tables.starts_after(gate.row.num, now.saturating_sub(signed(rate.period_ms)))?;
        let at = if used >= signed(rate.limit) { window_opens(tables, &gate.row, rate)? } else { 0 };
        gate.narrow("rate", signed(rate.limit), used, at);
    }
    if let Some(throttle) = limits.throttle {
        let at = gate.row.last_at.saturating_add(gap(throttle));
        let used = i64::from(gate.row.last_at > 0 && at > now);
        gate.narrow("throttle", 1, used, at);
    }
    if gate.row.held_until > now {
        let until = gate.row.held_until;
        gate.narrow("dynamic", 0, 0, until);
    }
    Ok(gate)
}

/// When a full window lets the next job start: when the oldest start that fills it leaves.
fn window_opens(tables: &mut dyn Tables, row: &LimitRow, rate: Window) -> Result<i64, StoreError> {
    let oldest = tables.start_at(row.num, row.starts.saturating_sub(signed(rate.limit)).saturating_add(1))?;
    Ok(oldest.map_or(0, |at| at.saturating_add(signed(rate.period_ms))))
}

impl Transaction<'_> {
    fn gate(&mut self, num: i64) -> Result<Gate, StoreError> {
        self.readable_gate(num)?
    }

    /// The outer error is one of the store, the inner one says that the limits of the key cannot be read.
    fn readable_gate(&mut self, num: i64) -> Result<Result<Gate, StoreError>, StoreError> {
        if let Some(gate) = self.features.limits.known.get(&num) {
            return Ok(Ok(gate.clone()));
        }
        let row = self.tables.limit(num)?;
        if let Err(fault) = row.now(self.now.as_millis()) {
            return Ok(Err(fault));
        }
        let gate = look(self.tables, row, self.now.as_millis())?;
        self.features.limits.known.insert(num, gate.clone());
        Ok(Ok(gate))
    }

    /// Notes the key of a job that is about to be stored.
    pub(crate) fn join_key(&mut self, job: &NewJob, row: &mut JobRow) -> Result<(), StoreError> {
        if let Some(policy) = &job.rate_limit {
            row.limit = self.key_of(policy)?;
        }
        Ok(())
    }

    /// The number of a job's key. A policy that names a limit sets the limits of the key; one that names none joins it.
    fn key_of(&mut self, policy: &RateLimit) -> Result<i64, StoreError> {
        let mut row = match self.tables.find_limit(&policy.tenant, &policy.key)? {
            Some(row) => row,
            None => self.tables.add_limit(&policy.tenant, &policy.key)?,
        };
        if policy.limits.is_limited() && row.limits != StoredLimits::Set(policy.limits) {
            row = self.tables.limit(row.num)?;
            row.limits = policy.limits.into();
            self.tables.save_limit(&row)?;
            self.features.limits.known.remove(&row.num);
            self.open_limit(row.num, None)?;
        }
        Ok(row.num)
    }

    /// What the answer to an enqueue says about the key of its job.
    fn key_state(&mut self, num: i64) -> Result<Option<KeyState>, StoreError> {
        let gate = self.gate(num)?;
        let Some(limit) = gate.limits.rate.map(|w| w.limit).or(gate.limits.throttle.map(|w| w.limit)).or(gate.limits.concurrency)
        else {
            return Ok(None);
        };
        let reset = Timestamp::from_millis(gate.next_at.max(self.now.as_millis()));
        Ok(Some(KeyState { limit, remaining: u64::try_from(gate.free).unwrap_or(0).min(limit), reset }))
    }

    /// Says to each job of an enqueue what its key has left.
    pub(crate) fn show_keys(&mut self, placed: &mut [Placed]) -> Result<(), StoreError> {
        for placed in placed.iter_mut().filter(|placed| placed.job.row.limit != 0) {
            placed.key = self.key_state(placed.job.row.limit)?;
        }
        Ok(())
    }

    /// A fetch that waits looks again when time opens a key.
    pub(crate) fn wait_for_opening(&mut self) -> Result<(), StoreError> {
        if let Some(at) = self.tables.next_opening()? {
            self.look_again(at);
        }
        Ok(())
    }

    /// A job of a key joins the line of its queue, parked when the line holds as many of the key as may start.
    pub(crate) fn join_line(&mut self, row: &mut JobRow) -> Result<(), StoreError> {
        if row.limit == 0 {
            return Ok(());
        }
        let gate = self.gate(row.limit)?;
        match gate.limits.retry_priority {
            RetryPriority::PreferRetry if row.attempt > 0 => row.sort_key -= AHEAD,
            RetryPriority::PreferNew if row.attempt > 0 => row.sort_key += AHEAD,
            _ => {}
        }
        if gate.limits.on_limit == OnLimit::Wait {
            let (heads, last) = self.tables.heads(row.limit, row.line())?;
            let standing = Standing { rank: -row.priority, sort_key: row.sort_key };
            let parked = heads >= gate.free && last.is_none_or(|last| last < standing);
            if parked {
                row.holds = row.holds.with(Holds::LIMIT);
            }
            // Said once: when the first has to wait.
            if parked && gate.free <= 0 && self.tables.parked(row.limit, row.line(), 1)?.is_empty() {
                self.emit_exceeded(&gate);
            }
        }
        Ok(())
    }

    /// Keeps count of what a change of state does to the job's key.
    pub(crate) fn note_key(&mut self, before: &JobRow, to: JobState) -> Result<(), StoreError> {
        if before.limit == 0 {
            return Ok(());
        }
        if to == JobState::Active {
            self.take_slot(before.limit)?;
        }
        if before.state == JobState::Active {
            self.features.limits.known.remove(&before.limit);
            self.features.limits.released.push((before.limit, Some(before.id)));
        } else if before.state == JobState::Available && before.is_free() && to != JobState::Active {
            // A place in the line is free, though no slot.
            self.free_place(before);
        }
        Ok(())
    }

    /// A job has left the line of its queue without starting: another one of its key may stand there.
    pub(crate) fn free_place(&mut self, row: &JobRow) {
        if row.limit != 0 {
            self.features.limits.released.push((row.limit, None));
        }
    }

    /// Another reason has let go of a job. If only its key still holds it, the key may have had room all the time.
    pub(crate) fn look_at_key(&mut self, row: &JobRow) -> Result<(), StoreError> {
        if row.holds == row.line().holds().with(Holds::LIMIT) { self.open_limit(row.limit, None) } else { Ok(()) }
    }

    /// Whether a job at the head of the line may start; when not, it has been held back as its key asks.
    pub(crate) fn may_start(&mut self, row: &JobRow) -> Result<bool, StoreError> {
        let gate = match self.readable_gate(row.limit)? {
            Ok(gate) => gate,
            Err(fault) => {
                // The job is parked until its limits are set anew, so that later jobs of the queue can start.
                tracing::error!(job = %row.id, error = %fault, "a job waits for limits that cannot be read");
                self.hold(row, Holds::LIMIT)?;
                return Ok(false);
            }
        };
        if gate.free > 0 {
            return Ok(true);
        }
        self.emit_exceeded(&gate);
        match gate.limits.on_limit {
            OnLimit::Wait => {
                self.hold(row, Holds::LIMIT)?;
                self.wait_for(row.limit, gate.next_at)?;
            }
            OnLimit::Reschedule => {
                let mut later = row.clone();
                later.sort_key = if gate.next_at > 0 { gate.next_at } else { self.now.as_millis() + RETRY_SLOT_MS };
                let at = Timestamp::from_millis(later.sort_key);
                let row = self.transition(row, later, Trigger::Schedule, JobState::Scheduled)?;
                self.emit("job.scheduled", &row, &format!("\"scheduled_at\":\"{at}\",\"reason\":\"rate_limit\""))?;
            }
            OnLimit::Drop => {
                let mut extra = String::new();
                ojs_model::json::push_text(&mut extra, "key", &gate.row.key);
                self.emit("rate_limit.dropped", row, &extra)?;
                self.throw_away(row, "rate_limited", format!("Its key '{}' was full when it came up.", gate.row.key))?;
            }
        }
        Ok(false)
    }

    /// A job of a key starts: takes a slot, and a place in the log when starts are limited.
    fn take_slot(&mut self, num: i64) -> Result<(), StoreError> {
        let now = self.now.as_millis();
        let mut gate = self.gate(num)?;
        gate.free = gate.free.saturating_sub(1);
        gate.used += 1;
        if gate.limits.rate.is_some() || gate.limits.throttle.is_some() {
            gate.row.starts += 1;
            gate.row.last_at = now;
            let kept = gate.limits.rate.map_or(1, |rate| signed(rate.limit));
            self.tables.add_start(num, gate.row.starts, now, gate.row.starts.saturating_sub(kept).saturating_add(1))?;
            // Both may have become the tighter one.
            let told = gate.told;
            let free = gate.free;
            gate = look(self.tables, gate.row, now)?;
            gate.told = told;
            if gate.limits.concurrency.is_some() {
                // The job is not active yet.
                gate.free = gate.free.min(free);
            }
            gate.row.open_at = self.time_opens(&gate)?;
            self.tables.save_limit(&gate.row)?;
        }
        let full = gate.free <= 0;
        self.features.limits.known.insert(num, gate.clone());
        if full && !parked_queues(self.tables, num)?.is_empty() {
            self.emit_exceeded(&gate);
        }
        Ok(())
    }

    /// When time lets more of a key start than may now: a start leaves the window, the throttle's gap ends, a hold or an override ends.
    fn time_opens(&mut self, gate: &Gate) -> Result<i64, StoreError> {
        let now = self.now.as_millis();
        let row = &gate.row;
        let mut times = vec![row.held_until, row.override_until];
        if let Some(rate) = gate.limits.rate {
            let period = signed(rate.period_ms);
            let used = self.tables.starts_after(row.num, now.saturating_sub(period))?;
            let first = self.tables.start_at(row.num, row.starts.saturating_sub(used).saturating_add(1))?;
            times.extend(first.map(|at| at.saturating_add(period)));
        }
        if let Some(throttle) = gate.limits.throttle {
            times.push(row.last_at.saturating_add(gap(throttle)));
        }
        Ok(times.into_iter().filter(|at| *at > now).min().unwrap_or(0))
    }

    fn wait_for(&mut self, num: i64, at: i64) -> Result<(), StoreError> {
        let gate = self.gate(num)?;
        if at > 0 && (gate.row.open_at == 0 || gate.row.open_at > at) {
            let row = LimitRow { open_at: at, ..gate.row.clone() };
            self.tables.save_limit(&row)?;
            self.features.limits.known.insert(num, Gate { row, ..gate });
        }
        Ok(())
    }

    /// Lets jobs come out whose keys have room again: since the last call of this transaction, or by time.
    pub(crate) fn open_limits(&mut self) -> Result<(), StoreError> {
        while let Some((num, job)) = self.features.limits.released.pop() {
            self.open_limit(num, job)?;
        }
        Ok(())
    }

    /// The same for keys that time has opened.
    pub(crate) fn open_due_limits(&mut self, sweeping: bool) -> Result<(), StoreError> {
        let now = self.now.as_millis();
        if self.tables.next_opening()?.is_some_and(|at| at <= now) {
            for row in self.tables.opened(now, SLICE)? {
                // A sweep names a key that cannot be read, and leaves it out; a claim goes on with the others.
                let goes_on = if sweeping { self.takes_key(&row.key) } else { row.now(now).is_ok() };
                if !goes_on {
                    continue;
                }
                self.features.limits.known.remove(&row.num);
                self.open_limit(row.num, None)?;
            }
        }
        Ok(())
    }

    fn open_limit(&mut self, num: i64, job: Option<JobId>) -> Result<(), StoreError> {
        let mut gate = self.gate(num)?;
        let lines = parked_lines(self.tables, num)?;
        let waits = !lines.is_empty();
        if let (Some(job), true) = (job, waits && gate.free > 0) {
            self.emit_released(&gate, job);
        }
        let mut more = false;
        for line in lines {
            let (heads, _) = self.tables.heads(num, line)?;
            let room = usize::try_from(gate.free.saturating_sub(heads)).unwrap_or(0).min(SLICE);
            let out = self.tables.parked(num, line, room)?;
            more |= out.len() == SLICE;
            for row in out {
                self.let_go(&row, Holds::LIMIT)?;
            }
        }
        // A large opening goes on with the next sweep.
        let open_at = if more { self.now.as_millis() } else { self.time_opens(&gate)? };
        if open_at != gate.row.open_at {
            gate.row.open_at = open_at;
            self.tables.save_limit(&gate.row)?;
        }
        self.features.limits.known.insert(num, gate);
        Ok(())
    }

    /// A worker says that nothing of the key shall start before a time (`rate_limit_until`).
    pub(crate) fn hold_key(&mut self, job: &JobRow, error: &JobError) -> Result<(), StoreError> {
        let Some(until) = error.rate_limit_until.filter(|until| job.limit != 0 && *until > self.now) else { return Ok(()) };
        let mut row = self.tables.limit(job.limit)?;
        row.held_until = until.as_millis().max(row.held_until);
        row.open_at = row.held_until;
        self.tables.save_limit(&row)?;
        self.features.limits.known.remove(&row.num);
        let mut extra = String::new();
        ojs_model::json::push_text(&mut extra, "key", &row.key);
        ojs_model::json::push_time(&mut extra, "until", until);
        ojs_model::json::push_text(&mut extra, "reason", &error.message);
        self.journal.other("rate_limit.dynamic_adjusted", self.now, &row.key, &extra);
        Ok(())
    }

    pub(crate) fn override_limit(
        &mut self,
        tenant: &str,
        key: &str,
        limits: Option<Limits>,
        until: Timestamp,
    ) -> Applied<LimitView> {
        let Some(known) = self.tables.find_limit(tenant, key)? else {
            return Err(OjsError::not_found("rate limit", key).into());
        };
        let mut row = self.tables.limit(known.num)?;
        row.override_limits = limits.map_or(StoredLimits::None, StoredLimits::Set);
        row.override_until = if limits.is_some() { until.as_millis() } else { 0 };
        self.tables.save_limit(&row)?;
        self.features.limits.known.remove(&row.num);
        self.open_limit(row.num, None)?;
        // The end of an override changes the limits once more, so the key is looked at again then.
        let mut row = self.tables.limit(row.num)?;
        if row.override_until > 0 && (row.open_at == 0 || row.open_at > row.override_until) {
            row.open_at = row.override_until;
            self.tables.save_limit(&row)?;
            self.features.limits.known.remove(&row.num);
        }
        Ok(view(self.tables, row, self.now)?)
    }

    fn emit_exceeded(&mut self, gate: &Gate) {
        if gate.told {
            return;
        }
        let mut extra = key_extra(gate);
        ojs_model::json::push_bare(&mut extra, "limit", gate.most);
        ojs_model::json::push_bare(&mut extra, "current", gate.used);
        self.journal.other("rate_limit.exceeded", self.now, &gate.row.key, &extra);
        self.journal.tally.exceeded += 1;
        if let Some(kept) = self.features.limits.known.get_mut(&gate.row.num) {
            kept.told = true;
        }
    }

    fn emit_released(&mut self, gate: &Gate, job: JobId) {
        let mut extra = key_extra(gate);
        ojs_model::json::push_text(&mut extra, "job_id", &job.to_string());
        self.journal.other("rate_limit.released", self.now, &gate.row.key, &extra);
    }
}

/// Queues in which the limit alone holds jobs of a key. Lines of keys are looked at where queues are shared only.
fn parked_queues(tables: &mut dyn Tables, num: i64) -> Result<Vec<ParkedQueue>, StoreError> {
    let mut found = tables.parked_queues_of(num, false)?;
    if tables.has_fair_queues()? {
        found.extend(tables.parked_queues_of(num, true)?);
    }
    Ok(found)
}

/// Lines in which the limit alone holds jobs of a key. A key with such jobs that have versions gives all lines of
/// versions in their queues.
pub(super) fn parked_lines(tables: &mut dyn Tables, num: i64) -> Result<Vec<Line>, StoreError> {
    let mut lines = Vec::new();
    for parked in parked_queues(tables, num)? {
        let is_fair = parked.is_fair;
        if parked.plain {
            lines.push(Line { is_fair, ..Line::of_queue(parked.queue) });
        }
        if parked.versioned {
            lines.extend(tables.version_lines(parked.queue)?.into_iter().map(|line| Line { is_fair, ..line }));
        }
    }
    Ok(lines)
}

fn key_extra(gate: &Gate) -> String {
    let mut extra = String::new();
    ojs_model::json::push_text(&mut extra, "key", &gate.row.key);
    ojs_model::json::push_text(&mut extra, "strategy", gate.strategy);
    extra
}

/// A key with what is going on.
pub(crate) fn view(tables: &mut dyn Tables, row: LimitRow, at: Timestamp) -> Result<LimitView, StoreError> {
    let now = at.as_millis();
    // A list shows a key whose limits cannot be read, too.
    let limits = row.now(now).unwrap_or_default();
    let (active, waiting) = (tables.running(row.num)?, tables.held(row.num)?);
    let (mut used, mut window_opens_at, mut throttle_opens_at) = (0, None, None);
    if let Some(rate) = limits.rate {
        used = tables.starts_after(row.num, now.saturating_sub(signed(rate.period_ms)))?;
        if used >= signed(rate.limit) {
            window_opens_at = Some(Timestamp::from_millis(window_opens(tables, &row, rate)?));
        }
    }
    if let Some(throttle) = limits.throttle.filter(|_| row.last_at > 0) {
        let opens = row.last_at.saturating_add(gap(throttle));
        throttle_opens_at = (opens > now).then(|| Timestamp::from_millis(opens));
    }
    Ok(LimitView { row, active, waiting, used, window_opens_at, throttle_opens_at, at })
}
