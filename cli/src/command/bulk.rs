//! What the commands that change many jobs share: the filter, the question before, slices with a bar.
use std::io::{IsTerminal, Write};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::operations::{self, Begin};
use crate::failure::Failure;
use crate::output::{items, print, remark, text};
use crate::remote::{Answer, Remote};
use crate::when::when;

/// Jobs per request: what one request takes is short, and the bar moves.
const SLICE: u64 = 5_000;

/// Which jobs.
#[derive(Debug, Args)]
pub struct Filter {
    /// Of this queue only.
    #[arg(long)]
    queue: Option<String>,
    /// In this state only; may be given more than once, or as a list with commas.
    #[arg(long, value_delimiter = ',')]
    state: Vec<String>,
    /// Of this job type only; `email.*` is all that start so.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Enqueued at this time or later: 2026-01-31T00:00:00Z, or how long ago, such as 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = when)]
    since: Option<String>,
    /// Enqueued before this time, in the same forms.
    #[arg(long, value_name = "TIME", value_parser = when)]
    until: Option<String>,
    /// Those only that match a search, see `ojs jobs list --help`.
    #[arg(long, short = 'q', value_name = "SEARCH")]
    search: Option<String>,
    /// Of this priority only.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i64>,
}

/// Jobs by id, or by filter with --all.
#[derive(Debug, Args)]
pub struct Many {
    /// The jobs' ids.
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// All that match the filter.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    begin: Begin,
}

/// What is said before many jobs are changed.
#[derive(Debug, Args)]
pub struct Consent {
    /// Do it without asking.
    #[arg(long, short)]
    yes: bool,
    /// Say how many jobs would be changed, for dead letters also what would come of it, and change none.
    #[arg(long)]
    pub dry_run: bool,
}

impl Filter {
    fn body(&self) -> Value {
        let mut members = Map::new();
        let texts =
            [("queue", &self.queue), ("type", &self.kind), ("since", &self.since), ("until", &self.until), ("q", &self.search)];
        members.extend(texts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value.as_ref()?)))));
        if !self.state.is_empty() {
            members.insert("state".into(), json!(self.state));
        }
        if let Some(priority) = self.priority {
            members.insert("priority".into(), json!(priority));
        }
        members.into()
    }
}

/// A request that is repeated until nothing is left, and the words around it.
pub struct Sweep<'a> {
    /// What is done, for the question: `cancel`.
    pub verb: &'a str,
    /// What was done: `cancelled`.
    pub done: &'a str,
    /// Member of the answer that counts it.
    pub count: &'a str,
}

impl Sweep<'_> {
    /// Asks, then sends `body` in slices until the answer says that no more is left.
    pub async fn run<F>(&self, remote: &Remote, consent: &Consent, body: Value, send: F) -> Result<(), Failure>
    where
        F: AsyncFn(Value) -> Result<Answer, Failure>,
    {
        let with = |more: Value| {
            let mut body = body.clone();
            if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
                body.extend(more);
            }
            body
        };
        let seen = send(with(json!({"dry_run": true}))).await?;
        let matched = seen.value.get("matched").and_then(Value::as_u64).unwrap_or(0);
        if consent.dry_run {
            return remote.output.show(&seen, |_| format!("{matched} would be {}", self.done));
        }
        if matched == 0 {
            return remote.output.show(&seen, |_| format!("0 {}", self.done));
        }
        consent.ask(&format!("{} {matched} jobs?", self.verb))?;
        let bar = bar(remote, matched);
        let (mut done, mut failed) = (0, 0);
        let last = loop {
            let answer = send(with(json!({"confirm": true, "limit": SLICE}))).await?;
            let number = |name: &str| answer.value.get(name).and_then(Value::as_u64).unwrap_or(0);
            done += number(self.count);
            failed += number("failed");
            bar.set_position(done + failed);
            for fault in items(&answer.value, "/errors") {
                bar.suspend(|| refused(fault));
            }
            let more = answer.value.get("has_more").and_then(Value::as_bool) == Some(true);
            let idle = number("matched") == 0;
            if !more || idle {
                break answer;
            }
        };
        bar.finish_and_clear();
        if remote.output.json {
            print(last.text.trim_end())?;
        } else {
            print(&format!("{done} {}", self.done))?;
        }
        if failed > 0 { Err(Failure::partly(format!("{failed} of {} were not {}", done + failed, self.done))) } else { Ok(()) }
    }
}

/// Changes many jobs through the operators' calls.
///
/// # Errors
/// As [`Remote::call`]; a refusal of the person who is asked.
pub async fn change(remote: &Remote, verb: &str, done: &str, many: Many) -> Result<(), Failure> {
    if many.all && operations::are_known(remote).await? {
        return operations::begin(remote, verb, done, many.filter.body(), &many.consent, &many.begin).await;
    }
    many.begin.check_without_operations()?;
    let path = format!("/admin/jobs/bulk/{verb}");
    let sweep = Sweep { verb, done, count: "succeeded" };
    if many.all {
        let body = json!({"filter": many.filter.body()});
        return sweep.run(remote, &many.consent, body, async |body| remote.post(path.as_str(), &body).await).await;
    }
    let body = json!({"job_ids": many.ids, "confirm": true, "dry_run": many.consent.dry_run});
    let answer = remote.post(path, &body).await?;
    if many.consent.dry_run {
        return remote.output.show(&answer, |value| format!("{} would be looked at", text(value, "/matched")));
    }
    remote.output.show(&answer, |value| format!("{} {done}", text(value, "/succeeded")))?;
    let faults = items(&answer.value, "/errors");
    faults.iter().for_each(refused);
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Failure::partly(format!("{} of {} were not {done}", faults.len(), many.ids.len())))
    }
}

impl Consent {
    /// Asks the person at the terminal; where there is none, `--yes` is needed.
    ///
    /// # Errors
    /// When the answer is no, or there is no terminal to ask at.
    pub fn ask(&self, question: &str) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        if !std::io::stdin().is_terminal() {
            return Err(Failure::usage(
                format!("{question} There is no terminal to ask at."),
                "Add --yes, or look first with --dry-run.",
            ));
        }
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        match (read, line.trim().to_ascii_lowercase().as_str()) {
            (Ok(_), "y" | "yes") => Ok(()),
            _ => Err(Failure::partly("nothing was changed")),
        }
    }
}

/// Says which job was refused, and why.
fn refused(fault: &Value) {
    remark(&format!("ojs: {}: {}", text(fault, "/job_id"), text(fault, "/error")));
}

/// Nothing is drawn where no person looks: in pipes, and with --json.
pub fn bar(remote: &Remote, jobs: u64) -> ProgressBar {
    if remote.output.json || jobs <= SLICE {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} jobs, {per_sec}, {eta} left");
    let bar = ProgressBar::new(jobs);
    if let Ok(style) = style { bar.with_style(style) } else { bar }
}
