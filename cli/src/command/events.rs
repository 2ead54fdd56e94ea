//! `ojs events`: what happens, as it happens.
use std::collections::VecDeque;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::failure::Failure;
use crate::list::envelope;
use crate::output::{items, print, text, write};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs events --limit 20                                the newest 20
  ojs events --after CURSOR --limit 20                 the first 20 behind a cursor or an event id
  ojs events --follow --types job.failed,job.discarded
  ojs events --follow --json | jq .data";

/// Between two looks when there was nothing new.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Events {
    /// Go on with new ones until interrupted; begins with the next event.
    #[arg(long)]
    follow: bool,
    /// Behind this cursor or event id.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// Only these types, comma-separated.
    #[arg(long)]
    types: Option<String>,
    /// Only these queues, comma-separated.
    #[arg(long)]
    queues: Option<String>,
    /// At most this many (without --follow): the newest, or the first behind --after. 0 is all that are kept.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

/// Most events of one answer.
const PAGE: usize = 1_000;

/// Prints events, the oldest first.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(events: Events, remote: Remote) -> Result<(), Failure> {
    if events.follow {
        return events.follow(&remote).await;
    }
    let (found, next) = match &events.after {
        Some(after) => events.behind(&remote, after).await?,
        None => (events.newest(&remote).await?, None),
    };
    if remote.output.json {
        let texts: Vec<String> = found.iter().map(Value::to_string).collect();
        return print(&envelope(texts.iter().map(String::as_str), None, next));
    }
    let more = next.map(|cursor| format!("more: --after {cursor}"));
    let lines: Vec<String> = found.iter().map(line).chain(more).collect();
    if lines.is_empty() { Ok(()) } else { print(&lines.join("\n")) }
}

/// The cursor behind everything that is there already.
async fn end_of_log(remote: &Remote) -> Result<String, Failure> {
    let mut cursor = String::new();
    loop {
        let answer = remote.get(format!("/events?limit=1000&after={}", segment(&cursor))).await?;
        cursor = text(&answer.value, "/cursor");
        if text(&answer.value, "/has_more") != "true" {
            return Ok(cursor);
        }
    }
}

impl Events {
    /// Prints what comes, an event a line, until its reader is gone.
    async fn follow(&self, remote: &Remote) -> Result<(), Failure> {
        let mut cursor = match &self.after {
            Some(after) => after.clone(),
            None => end_of_log(remote).await?,
        };
        loop {
            let answer = remote.get(self.path(PAGE, Some(&cursor))).await?;
            let found = items(&answer.value, "/events");
            for event in found {
                let line = if remote.output.json { event.to_string() } else { line(event) };
                if !write(format!("{line}\n").as_bytes())? {
                    return Ok(());
                }
            }
            cursor = Some(text(&answer.value, "/cursor")).filter(|next| !next.is_empty()).unwrap_or(cursor);
            if found.is_empty() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// The newest events. Servers that do not know `newest` answer with the oldest, and with more behind them: their log is read to its end.
    async fn newest(&self, remote: &Remote) -> Result<Vec<Value>, Failure> {
        let most = if self.limit == 0 { usize::MAX } else { self.limit };
        let (mut kept, mut cursor) = (VecDeque::new(), None);
        // The server gives that many and no more: for others the log is read from the front.
        let (size, whole) = if most > PAGE { (PAGE, true) } else { (most, false) };
        loop {
            let mut path = self.path(size, cursor.as_deref());
            if !whole {
                path.push_str("&newest=true");
            }
            let answer = remote.get(path).await?;
            for event in items(&answer.value, "/events") {
                if kept.len() == most {
                    kept.pop_front();
                }
                kept.push_back(event.clone());
            }
            let next = text(&answer.value, "/cursor");
            if text(&answer.value, "/has_more") != "true" || cursor.as_ref() == Some(&next) {
                return Ok(kept.into());
            }
            cursor = Some(next);
        }
    }

    /// The first events behind a cursor, and the cursor behind them when more follow.
    async fn behind(&self, remote: &Remote, after: &str) -> Result<(Vec<Value>, Option<String>), Failure> {
        let most = if self.limit == 0 { usize::MAX } else { self.limit };
        let (mut found, mut cursor) = (Vec::new(), after.to_owned());
        loop {
            let answer = remote.get(self.path(PAGE.min(most - found.len()), Some(&cursor))).await?;
            found.extend_from_slice(items(&answer.value, "/events"));
            let next = text(&answer.value, "/cursor");
            if text(&answer.value, "/has_more") != "true" || next == cursor {
                return Ok((found, None));
            }
            cursor = next;
            if found.len() >= most {
                return Ok((found, Some(cursor)));
            }
        }
    }

    fn path(&self, limit: usize, cursor: Option<&str>) -> String {
        let mut path = format!("/events?limit={limit}");
        for (name, value) in [("after", cursor), ("types", self.types.as_deref()), ("queues", self.queues.as_deref())] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                path.push_str(&format!("&{name}={}", segment(value)));
            }
        }
        path
    }
}

fn line(event: &Value) -> String {
    let mut parts = ["/time", "/type", "/data/queue", "/data/job_type", "/subject"].map(|path| text(event, path)).to_vec();
    parts.push(text(event, "/data/error/message"));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}
