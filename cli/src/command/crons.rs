//! `ojs crons`: jobs by the clock.
use clap::Subcommand;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{pairs, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs crons add nightly '0 3 * * *' report.build --timezone Europe/Berlin
  ojs crons run nightly                a job now; the schedule stays
  ojs crons disable nightly
  ojs crons delete nightly";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List entries with their next times.
    List(Cut),
    /// Show one.
    #[command(visible_alias = "show")]
    Get {
        /// Its name.
        name: String,
    },
    /// Register an entry, or replace the one of that name.
    Add {
        /// Its name.
        name: String,
        /// Five fields: minute, hour, day, month, weekday.
        expression: String,
        /// The type of its jobs.
        #[arg(value_name = "TYPE")]
        kind: String,
        /// Arguments of its jobs, a JSON array.
        #[arg(default_value = "[]", value_parser = array)]
        args: Value,
        /// The queue of its jobs.
        #[arg(long)]
        queue: Option<String>,
        /// Where the clock hangs. [default: UTC]
        #[arg(long, value_name = "ZONE")]
        timezone: Option<String>,
    },
    /// Enqueue one of its jobs now, whether it is enabled or not. Its schedule stays.
    Run {
        /// Its name.
        name: String,
    },
    /// Let it fire again.
    Enable {
        /// Its name.
        name: String,
    },
    /// Let it rest.
    Disable {
        /// Its name.
        name: String,
    },
    /// Delete it. Jobs it has made live on.
    Delete {
        /// Its name.
        name: String,
    },
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let answer = match action {
        Action::List(cut) => {
            let source = Source { path: "/cron".to_owned(), members: &["crons", "cron_jobs", "entries"], paging: Paging::Whole };
            let columns = ["/name", "/cron", "/timezone", "/enabled", "/next_run_at", "/last_run_at"];
            let listed = cut.of(&remote, &source, MANY).await?;
            let heading = ["name", "cron", "timezone", "enabled", "next", "last"];
            return listed.show(remote.output, &heading, |cron| columns.map(|path| first(cron, path)));
        }
        Action::Get { name } => remote.get(format!("/cron/{}", segment(&name))).await?,
        Action::Add { name, expression, kind, args, queue, timezone } => {
            let mut body = json!({"name": name, "cron": expression, "type": kind, "args": args});
            if let Some(body) = body.as_object_mut() {
                if let Some(zone) = timezone {
                    body.insert("timezone".into(), zone.into());
                }
                if let Some(queue) = queue {
                    body.insert("options".into(), json!({"queue": queue}));
                }
            }
            remote.post("/cron", &body).await?
        }
        Action::Enable { name } => remote.patch(format!("/cron/{}", segment(&name)), &json!({"enabled": true})).await?,
        Action::Disable { name } => remote.patch(format!("/cron/{}", segment(&name)), &json!({"enabled": false})).await?,
        Action::Run { name } => {
            let answer = remote.post(format!("/cron/{}/run", segment(&name)), &json!({})).await?;
            return remote.output.show(&answer, |value| {
                let job = value.get("job").unwrap_or(value);
                pairs([("job", text(job, "/id")), ("type", text(job, "/type")), ("state", text(job, "/state"))])
            });
        }
        Action::Delete { name } => {
            let answer = remote.delete(format!("/cron/{}", segment(&name))).await?;
            return remote.output.show(&answer, |_| format!("{name}: deleted"));
        }
    };
    remote.output.show(&answer, |value| {
        let cron = value.get("cron").filter(|cron| cron.is_object()).unwrap_or(value);
        pairs([
            ("name", text(cron, "/name")),
            ("cron", first(cron, "/cron")),
            ("timezone", text(cron, "/timezone")),
            ("enabled", text(cron, "/enabled")),
            ("next", text(cron, "/next_run_at")),
            ("last", text(cron, "/last_run_at")),
            ("runs", text(cron, "/run_count")),
        ])
    })
}

/// A member; the expression has two names.
fn first(cron: &Value, path: &str) -> String {
    let found = text(cron, path);
    if path == "/cron" && found.is_empty() { text(cron, "/expression") } else { found }
}

fn array(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON ({error})"))?;
    if value.is_array() { Ok(value) } else { Err("not a JSON array".into()) }
}
