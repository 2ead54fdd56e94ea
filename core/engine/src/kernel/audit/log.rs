//! Checks of the kernel: the event log can be read, and its last event about a job tells the job's state.
use foldhash::HashMap;
use ojs_model::{JobId, JobState};

use super::Audit;
use crate::error::Result;
use crate::kernel::event::EventFilter;
use crate::kernel::event_log;

/// Jobs whose last state in the log is remembered: bounds memory. Further ones are not compared.
const JOBS: usize = 100_000;
/// Batches that are read at a time.
const BATCHES: usize = 64;
/// Members of a line: name, time, subject, numbers of job type and queue, extra.
const MEMBERS: usize = 6;
/// Jobs that are compared at a time.
const PAGE: usize = 500;

impl Audit<'_> {
    pub(super) fn compare_log(&mut self) -> Result<()> {
        let (_, newest) = self.tables.log_span()?;
        let everything = EventFilter { transitions: true, ..EventFilter::default() };
        let mut last: HashMap<JobId, JobState> = HashMap::default();
        let mut read = 0;
        loop {
            let batches = self.tables.events_from(read + 1, BATCHES)?;
            for batch in &batches {
                read = read.max(batch.seq);
                for (index, line) in batch.lines.lines().enumerate() {
                    self.read_line(&everything, batch.seq, index, line, &mut last);
                }
            }
            if batches.len() < BATCHES {
                break;
            }
        }
        // On a shared store the newest events are withheld while others write: then the last ones are not known yet.
        if read == newest { self.compare_states(&last) } else { Ok(()) }
    }

    fn read_line(&mut self, filter: &EventFilter, batch: i64, index: usize, line: &str, last: &mut HashMap<JobId, JobState>) {
        let place = crate::kernel::event::Place::of(batch, index + 1);
        let event = event_log::decode(self.tables, filter, place, line);
        let whole = line.splitn(MEMBERS, '|').count() == MEMBERS;
        let Some(event) = event.ok().flatten().filter(|event| whole && event.at.as_millis() > 0) else {
            let shown: String = line.chars().take(120).collect();
            self.find("event_lines", format_args!("line {} of batch {batch}", index + 1), "an event", "readable", shown);
            return;
        };
        let job = event.subject.parse::<JobId>().ok().filter(|_| event.origin.is_some());
        if let (Some(job), Some(change)) = (job, event.change)
            && (last.len() < JOBS || last.contains_key(&job))
        {
            last.insert(job, change.to);
        }
    }

    fn compare_states(&mut self, last: &HashMap<JobId, JobState>) -> Result<()> {
        let ids: Vec<JobId> = last.keys().copied().collect();
        for ids in ids.chunks(PAGE) {
            // A job that is not there has been deleted, which is no change of its state.
            for (row, _) in self.tables.outcomes(ids)?.into_iter().flatten() {
                let Some(told) = last.get(&row.id) else { continue };
                self.same("event_states", format_args!("job {}", row.id), "its state, by the last event", *told, row.state);
            }
        }
        Ok(())
    }
}
