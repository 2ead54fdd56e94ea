//! The undo log of the open transaction: after a refusal or a fault nothing stays half done.
//!
//! Every change adds an entry with the previous value; a rollback applies the entries backwards. Frequent changes have
//! entries of their own kinds, the others are closures.
use ojs_model::JobId;

use super::{Kept, MemoryTables, Stored};
use crate::kernel::job::{Body, History, JobRow};

/// How to undo one change.
pub(super) enum Step {
    /// A job was stored.
    Inserted(JobId),
    /// A row was changed: the last of [`Undo::rows`] is how it was.
    Row,
    /// A job was removed.
    Deleted(Box<Stored>),
    /// Errors and result of a job were replaced.
    History(i64, Box<History>),
    /// The fixed part of a job was replaced.
    Body(i64, Box<Body>),
    /// The counts of a queue were changed: as they were.
    Counts(i64, Option<Kept>),
    /// A batch of events was appended.
    Events,
    /// Anything else.
    Other(Box<dyn FnOnce(&mut MemoryTables) + Send>),
}

/// Notes of the open transaction, oldest first.
#[derive(Default)]
pub(super) struct Undo {
    steps: Vec<Step>,
    /// Rows as they were. Apart from the steps, because a box for each would cost as much as the change.
    rows: Vec<JobRow>,
}

impl std::fmt::Debug for Undo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Undo({})", self.steps.len())
    }
}

/// Notes kept between transactions at most: a large one gives its memory back.
const KEPT: usize = 4_096;

impl Undo {
    pub(super) fn note(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Notes how a row was that has been changed.
    pub(super) fn note_row(&mut self, before: JobRow) {
        self.steps.push(Step::Row);
        self.rows.push(before);
    }

    /// Changes noted so far.
    pub(super) fn len(&self) -> u64 {
        self.steps.len() as u64
    }

    /// The changes stay.
    pub(super) fn forget(&mut self) {
        self.steps.clear();
        self.steps.shrink_to(KEPT);
        self.rows.clear();
        self.rows.shrink_to(KEPT);
    }
}

impl MemoryTables {
    /// Notes how to undo a change that few commands make.
    pub(super) fn undo_by(&mut self, step: impl FnOnce(&mut Self) + Send + 'static) {
        self.undo.note(Step::Other(Box::new(step)));
    }

    /// Undoes what has been done since the transaction began.
    pub(super) fn undo_all(&mut self) {
        let Undo { steps, mut rows } = std::mem::take(&mut self.undo);
        for step in steps.into_iter().rev() {
            self.undo_one(step, &mut rows);
        }
        // Undoing takes the same ways as doing.
        self.undo.forget();
    }

    fn undo_one(&mut self, step: Step, rows: &mut Vec<JobRow>) {
        match step {
            Step::Inserted(id) => {
                if let Some(stored) = self.take(id) {
                    self.last_seq = stored.row.seq - 1;
                }
            }
            Step::Row => {
                if let Some(before) = rows.pop() {
                    self.replace_row(before);
                }
            }
            Step::Deleted(stored) => self.put(*stored),
            Step::History(seq, history) => {
                if let Some(stored) = self.jobs.get_mut(&seq) {
                    stored.history = *history;
                }
            }
            Step::Body(seq, body) => {
                if let Some(stored) = self.jobs.get_mut(&seq) {
                    stored.body = *body;
                }
            }
            Step::Counts(queue, Some(counts)) => _ = self.counts.insert(queue, counts),
            Step::Counts(queue, None) => _ = self.counts.remove(&queue),
            Step::Events => {
                self.events.pop();
                self.last_event -= 1;
            }
            Step::Other(step) => step(self),
        }
    }

    /// Stores a job with all its places in the indexes.
    pub(super) fn put(&mut self, stored: Stored) {
        self.ids.insert(stored.row.id, stored.row.seq);
        self.index(&stored.row);
        if let Some(key) = stored.unique {
            self.uniques.entry(key).or_default().insert(stored.row.seq);
        }
        self.jobs.insert(stored.row.seq, stored);
    }

    /// Takes a job out with all its places in the indexes.
    pub(super) fn take(&mut self, id: JobId) -> Option<Stored> {
        let stored = self.ids.remove(&id).and_then(|seq| self.jobs.remove(&seq))?;
        self.unindex(&stored.row);
        if let Some(key) = &stored.unique
            && let Some(seqs) = self.uniques.get_mut(key)
        {
            seqs.remove(&stored.row.seq);
            if seqs.is_empty() {
                self.uniques.remove(key);
            }
        }
        Some(stored)
    }

    /// Replaces a row and its places in the indexes; returns what was there.
    pub(super) fn replace_row(&mut self, row: JobRow) {
        if let Some(stored) = self.jobs.get_mut(&row.seq) {
            let before = std::mem::replace(&mut stored.row, row.clone());
            self.unindex(&before);
            self.index(&row);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ojs_model::workflow::NewWorkflow;
    use ojs_model::{JobError, NewJob, Timestamp};
    use serde_json::json;

    use super::*;
    use crate::error::{Refusal, StoreError};
    use crate::features::admin::commands::Maintain;
    use crate::features::admin::records::Maintenance;
    use crate::features::crons::commands::{DeleteCron, PutCron};
    use crate::features::crons::records::{CronRow, Overlap};
    use crate::features::dead_letters::commands::{DeleteDeadLetter, Replay};
    use crate::features::queue_config::commands::SetPaused;
    use crate::features::workflows::commands::CreateWorkflow;
    use crate::kernel::command::{Cancel, Claim, Enqueue, Exchange, Heartbeat, Outcome, OutcomeReport, Reset};
    use crate::kernel::counters::Counters;
    use crate::kernel::maintenance::Sweeper;
    use crate::kernel::retention::Retention;
    use crate::kernel::transaction::Transaction;
    use crate::kernel::typed::{Command, Submission, Submitted};
    use crate::store::tables::Tables;

    /// Everything that is there, in an order of its own.
    fn snapshot(tables: &MemoryTables) -> String {
        fn sorted<T: std::fmt::Debug>(all: impl IntoIterator<Item = T>) -> Vec<String> {
            let mut all: Vec<String> = all.into_iter().map(|one| format!("{one:?}")).collect();
            all.sort();
            all
        }
        let maps = (sorted(&tables.ids), sorted(&tables.uniques), sorted(&tables.counts));
        let records = sorted(tables.records.values().filter(|records| !records.is_empty()));
        let indexes = (&tables.ready, &tables.due, &tables.leases, &tables.expiring, &tables.dead, &tables.keys);
        let rest = (&tables.jobs, &tables.events, tables.last_seq, tables.last_event);
        format!("{maps:#?}{records:#?}{indexes:#?}{rest:#?}")
    }

    fn job(text: &str, now: Timestamp) -> Arc<NewJob> {
        Arc::new(NewJob::parse(text, now).unwrap())
    }

    fn cron(now: Timestamp) -> CronRow {
        CronRow {
            name: "c".into(),
            expression: "* * * * *".into(),
            timezone: "UTC".into(),
            overlap: Overlap::Skip,
            enabled: true,
            description: None,
            template: r#"{"type":"t","args":[]}"#.into(),
            created_at: now.as_millis(),
            next_at: 0,
            last_at: 0,
            run_count: 0,
            last_job: None,
            waiting: 0,
        }
    }

    fn one<C: Command>(command: C) -> Box<dyn Submitted> {
        Box::new(Submission::new(command))
    }

    fn claim(queues: &[&str], count: usize, worker: Option<&str>) -> Claim {
        let queues = queues.iter().map(|&queue| queue.into()).collect();
        Claim { queues, count, worker: worker.map(str::to_owned), ..Claim::default() }
    }

    /// What may be asked next: of jobs that are there, in their states. The last one removes everything.
    fn commands(tables: &MemoryTables, now: Timestamp) -> Vec<Box<dyn Submitted>> {
        let enqueue = |texts: &[&str]| one(Enqueue(texts.iter().map(|text| job(text, now)).collect()));
        let chain = r#"{"type":"chain","steps":[{"type":"a","args":[]},{"type":"b","args":[]}]}"#;
        let limit = r#"{"key":"k","concurrency":1,"rate":{"limit":9,"period":"PT1S"}}"#;
        let mut all = vec![
            enqueue(&[r#"{"type":"a","args":[]}"#, r#"{"type":"b","args":[1],"options":{"queue":"q"}}"#]),
            enqueue(&[r#"{"type":"a","args":[2],"options":{"unique":{"keys":["type"],"on_conflict":"replace"}}}"#]),
            enqueue(&[&format!(r#"{{"type":"k","args":[],"options":{{"rate_limit":{limit}}}}}"#)]),
            one(CreateWorkflow(NewWorkflow::parse(chain, now).unwrap())),
            one(PutCron(cron(now))),
            one(DeleteCron("c".into())),
            enqueue(&[r#"{"type":"a","args":[],"options":{"delay_until":"+PT1H"}}"#]),
            one(Exchange { outcomes: Vec::new(), claim: Some(claim(&["default", "q"], 2, Some("w"))) }),
            one(SetPaused { queue: "new".into(), paused: true }),
            one(SetPaused { queue: "new".into(), paused: false }),
            one(Maintain(Some(Maintenance { reason: "r".into(), since: 1, until: 2 }))),
            one(Maintain(None)),
        ];
        for row in tables.jobs.values().map(|stored| &stored.row).take(6) {
            let report = |outcome| {
                let report = OutcomeReport { job: row.id, lease: Some(row.lease), worker: None, outcome, want_job: false };
                one(Exchange { outcomes: vec![report], claim: None })
            };
            let error = JobError::parse(&json!({"code": "x", "message": "m"})).unwrap();
            all.push(report(Outcome::Nack(Box::new(error))));
            all.push(report(Outcome::Ack(Some("[1]".into()))));
            all.push(one(Cancel(row.id)));
            all.push(one(Replay(row.id)));
            all.push(one(DeleteDeadLetter(row.id)));
            let jobs = vec![(row.id, Some(row.lease))];
            all.push(one(Heartbeat { worker: "w".into(), jobs, ..Heartbeat::default() }));
        }
        all.push(one(Reset));
        all
    }

    fn run(tables: &mut MemoryTables, counters: &mut Counters, now: Timestamp, command: &dyn Submitted) -> bool {
        tables.begin(true).unwrap();
        let mut transaction = Transaction::new(tables, counters, now);
        let done = command.apply(&mut transaction).is_ok();
        transaction.finish().unwrap();
        done
    }

    #[test]
    fn a_transaction_that_is_undone_leaves_nothing() {
        let (mut tables, mut counters) = (MemoryTables::default(), Counters::with(&crate::features::HOOKS));
        counters.reserve(&mut tables).unwrap();
        tables.commit().unwrap();
        let mut sweeper = Sweeper::new(Duration::from_secs(30), Retention::default());
        let mut done = 0;
        for round in 0..12_usize {
            let now = Timestamp::from_millis(1_767_225_600_000 + i64::try_from(round).unwrap() * 3_000_000);
            let commands = commands(&tables, now);
            for (n, command) in commands.iter().enumerate() {
                let before = snapshot(&tables);
                done += usize::from(run(&mut tables, &mut counters, now, command.as_ref()));
                tables.rollback();
                assert_eq!(snapshot(&tables), before, "{command:?}");
                // The same again, to go on from there; a reset would leave nothing to undo.
                if (n + round) % 3 == 0 && n + 1 < commands.len() {
                    run(&mut tables, &mut counters, now, command.as_ref());
                    tables.commit().unwrap();
                }
            }
            let before = snapshot(&tables);
            tables.begin(false).unwrap();
            let mut transaction = Transaction::new(&mut tables, &mut counters, now);
            assert!(sweeper.sweep(&mut transaction).is_ok());
            transaction.finish().unwrap();
            tables.rollback();
            assert_eq!(snapshot(&tables), before, "a sweep");
        }
        assert!(done > 100, "{done} commands were carried out: too few to prove anything");
    }

    #[test]
    fn a_history_that_cannot_be_read_is_a_fault_and_not_an_empty_one() {
        let (mut tables, mut counters) = (MemoryTables::default(), Counters::with(&crate::features::HOOKS));
        counters.reserve(&mut tables).unwrap();
        let now = Timestamp::from_millis(1_767_225_600_000);
        let new = job(r#"{"type":"a","args":[]}"#, now);
        assert!(run(&mut tables, &mut counters, now, one(Enqueue(vec![Arc::clone(&new)])).as_ref()));
        let exchange = Exchange { outcomes: Vec::new(), claim: Some(claim(&["default"], 1, None)) };
        assert!(run(&mut tables, &mut counters, now, one(exchange).as_ref()));
        let stored = tables.jobs.values_mut().next().unwrap();
        stored.history.errors = "[{".into();
        stored.row.flags |= crate::kernel::job::flag::ERRORS;
        let error = JobError::parse(&json!({"code": "x", "message": "m"})).unwrap();
        let outcome = Outcome::Nack(Box::new(error));
        let report = OutcomeReport { job: new.id, lease: None, worker: None, outcome, want_job: false };
        let mut transaction = Transaction::new(&mut tables, &mut counters, now);
        let refusal = transaction.apply(&Exchange { outcomes: vec![report], claim: None }).unwrap_err();
        assert!(matches!(&refusal, Refusal::Store(StoreError::Failed(what)) if what.contains("cannot be read")), "{refusal:?}");
        assert_eq!(tables.jobs.values().next().unwrap().history.errors, "[{");
    }
}
