//! Events of one transaction, written as short lines beside the change they report.
use std::fmt::Write;

use ojs_model::json::push_integer;
use ojs_model::{JobId, JobState, Timestamp};

use crate::error::Result;
use crate::features::statistics::records::Tally;
use crate::kernel::event::{Change, Event, EventFilter, Place};
use crate::kernel::event_log::decode;
use crate::kernel::job::JobRow;
use crate::store::tables::Tables;

/// Events of one transaction, in order.
#[derive(Debug, Default)]
pub struct Journal {
    lines: String,
    count: usize,
    /// A transition that no line carries yet.
    moved: Option<Moved>,
    /// The same, as figures.
    pub tally: Tally,
}

/// A transition on its way into the log.
#[derive(Debug)]
struct Moved {
    at: Timestamp,
    change: Change,
    job: Subject,
}

/// The job that a line is about, in numbers.
#[derive(Debug, Clone, Copy)]
struct Subject {
    id: JobId,
    job_type_id: i64,
    queue: i64,
    tenant: i64,
}

impl From<&JobRow> for Subject {
    fn from(row: &JobRow) -> Self {
        Self { id: row.id, job_type_id: row.job_type_id, queue: row.queue, tenant: row.tenant }
    }
}

impl Journal {
    /// Notes a transition; `from` is `None` for a new job. The next event of the job carries it.
    pub fn moved(&mut self, at: Timestamp, from: Option<JobState>, row: &JobRow) {
        self.flush();
        self.moved = Some(Moved { at, change: Change { from, to: row.state }, job: row.into() });
    }

    /// Notes an event of a job. `extra` is the rest of `data`, JSON members without braces.
    pub fn job(&mut self, name: &str, at: Timestamp, row: &JobRow, extra: &str) {
        self.tally.note(name, at.as_millis(), row);
        let carried = self.moved.take_if(|moved| moved.job.id == row.id);
        self.flush();
        self.line(name, at, carried.map(|moved| moved.change), row.into(), extra);
    }

    /// Writes a transition that no event has reported.
    fn flush(&mut self) {
        if let Some(Moved { at, change, job }) = self.moved.take() {
            self.line("", at, Some(change), job, "");
        }
    }

    fn line(&mut self, name: &str, at: Timestamp, change: Option<Change>, job: Subject, extra: &str) {
        self.count += 1;
        // Several of these for every job: around the formatter.
        let lines = &mut self.lines;
        lines.push_str(name);
        lines.push('|');
        push_integer(lines, at.as_millis());
        if let Some(Change { from, to }) = change {
            lines.push(',');
            match from {
                Some(from) => push_integer(lines, from as u8),
                None => lines.push('-'),
            }
            lines.push(',');
            push_integer(lines, to as u8);
        }
        if job.tenant != 0 {
            lines.push_str(if change.is_none() { ",,," } else { "," });
            push_integer(lines, job.tenant);
        }
        lines.push('|');
        lines.push_str(job.id.encode(&mut [0; 36]));
        for number in [job.job_type_id, job.queue] {
            lines.push('|');
            push_integer(lines, number);
        }
        lines.push('|');
        lines.push_str(extra);
        lines.push('\n');
    }

    /// Notes an event of a queue or a worker; the subject is a name.
    pub fn other(&mut self, name: &str, at: Timestamp, subject: &str, extra: &str) {
        self.of_tenant(0, name, at, subject, extra);
    }

    /// The same for what belongs to a tenant: a workflow, a cron entry.
    pub fn of_tenant(&mut self, tenant: i64, name: &str, at: Timestamp, subject: &str, extra: &str) {
        self.flush();
        self.count += 1;
        let tenant = if tenant == 0 { String::new() } else { format!(",,,{tenant}") };
        let _ = writeln!(self.lines, "{name}|{}{tenant}|{subject}|0|0|{extra}", at.as_millis());
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.moved.is_none()
    }

    /// The events so far, in the form in which they are read later. Their places are not known yet.
    pub fn events(&mut self, tables: &mut dyn Tables) -> Result<Vec<Event>> {
        self.flush();
        let all = EventFilter::default();
        let lines = self.lines.lines();
        lines.filter_map(|line| decode(tables, &all, Place::default(), line).transpose()).collect()
    }

    /// Appends what was noted to the log.
    pub fn write(&mut self, at: Timestamp, tables: &mut dyn Tables) -> Result<()> {
        self.flush();
        if self.count == 0 {
            return Ok(());
        }
        tables.append_events(at.as_millis(), &self.lines, self.count)?;
        self.lines.clear();
        self.count = 0;
        Ok(())
    }
}
