//! `ojs doctor`: looks for what is wrong, and says what to do.
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use ojs_engine::StoreUrl;
use ojs_engine::schema::{self, Subject};
use ojs_model::redact::SecretUrl;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::failure::Failure;
use crate::names::did_you_mean;
use crate::output::{Output, print, rows};
use crate::remote::{DEFAULT_URL, Remote, RemoteArgs};

mod audit;
mod bundle;
mod check;
mod clock;
mod context;
mod crons;
mod exposed;
mod failures;
mod finding;
mod flow;
mod forgotten;
mod health;
mod jobs;
mod limits;
mod machine;
mod noisy;
mod outbox;
mod relays;
mod retention;
mod store;
mod versions;
mod waiting;
mod workers;

use check::{ALL, CHECKS, Check, ONE};
use context::Context;
use finding::{Finding, Level};

const EXAMPLES: &str = "\
Exit status: 0 all is well · 1 something was found · 2 wrong usage or setting · 3 neither a server nor a store answers

Examples:
  ojs doctor                                    ask the server at OJS_URL
  ojs doctor --store sqlite:jobs.db             a store without a server
  ojs doctor --store postgres://ojs@db/jobs     look at the database as well
  ojs doctor --list                             what is looked at
  ojs doctor --only queue.starving,worker.silent
  ojs doctor --bundle report.tar.gz             for a report of a fault: no arguments, no secrets
  ojs doctor --audit                            compare all rows of the store with each other
  ojs doctor --json | jq '.findings[] | select(.level != \"ok\")'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// Look at the store itself, too: its schema, its connections, transactions that stay open. Where no server answers, and no --url names
    /// one, the jobs are looked at in the store.
    #[arg(long, value_name = "URL", env = "OJS_STORE", hide_env_values = true)]
    store: Option<String>,
    /// Also compare the rows of the store with each other: counts with jobs, jobs with their bodies, workflows with
    /// their steps, and so on. Changes nothing. Takes some seconds for a million jobs, and other queries of a store in
    /// one file or in memory wait meanwhile.
    #[arg(long)]
    audit: bool,
    /// List the checks, and look at nothing.
    #[arg(long)]
    list: bool,
    /// Only these checks, or those of a topic (`store`). May be repeated; takes a list with commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave these checks, or those of a topic, out.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    skip: Vec<String>,
    /// End with 1 because of notes as well.
    #[arg(long)]
    strict: bool,
    /// Write findings, versions, settings without secrets and figures into this file (tar.gz), for a report of a fault.
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    /// The file of keys of the server, to look at as well.
    #[arg(long, value_name = "FILE", env = "OJS_KEYS")]
    keys: Option<PathBuf>,
    /// The database of an application, to look at its outbox.
    #[arg(long, value_name = "URL", env = "OJS_OUTBOX_DATABASE", hide_env_values = true)]
    database: Option<SecretUrl>,
    /// The outbox there.
    #[arg(long, value_name = "NAME", env = "OJS_OUTBOX_TABLE", default_value = "ojs_outbox")]
    table: String,
}

/// Runs the checks. A warning or an error ends with exit status 1.
///
/// # Errors
/// A name that no check has, a store that is none, problems that were found, nothing that answers.
pub async fn run(command: Doctor, args: RemoteArgs) -> Result<(), Failure> {
    let (output, end) = (args.output(), Instant::now() + ALL);
    let chosen = chosen(&command)?;
    if command.list {
        return list(output, &chosen);
    }
    let store = command.store.as_deref().map(str::parse::<StoreUrl>).transpose();
    let store =
        store.map_err(|error| Failure::usage(format!("--store: {error}"), "for example --store postgres://ojs@db/jobs"))?;
    let mut context = reach(args, store.as_ref()).await?;
    context.audited = command.audit;
    context.keys = command.keys.clone();
    context.outbox = command.database.clone().map(|database| (database, command.table.clone()));
    let nothing = context.remote.is_none() && store.is_none();
    context.store = store;
    let context = Arc::new(context);
    let report = Report::new(check::run(chosen, &context, end).await, command.strict);
    if let Some(path) = &command.bundle {
        bundle::write(path, &context, &report.without_quotes()).await?;
    }
    report.show(output)?;
    match &context.unanswered {
        Some(finding) if nothing && finding.level == Level::Error => Err(Failure::unreachable(finding.message.clone())),
        _ => report.judge(),
    }
}

/// The checks that were asked for.
fn chosen(command: &Doctor) -> Result<Vec<&'static Check>, Failure> {
    let topic = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let names = CHECKS.iter().map(|check| check.name);
    for word in command.only.iter().chain(&command.skip) {
        if check::find(word).is_none() && !names.clone().any(|name| topic(name) == *word) {
            let meant = did_you_mean(word, names).unwrap_or_else(|| "`ojs doctor --list` shows them".to_owned());
            return Err(Failure::usage(format!("there is no check '{word}'"), meant));
        }
    }
    let named = |list: &[String], check: &Check| list.iter().any(|word| word == check.name || *word == topic(check.name));
    let wanted = |check: &&Check| (command.only.is_empty() || named(&command.only, check)) && !named(&command.skip, check);
    let audited = |check: &&Check| command.audit || check.name != "store.audit" || named(&command.only, check) || command.list;
    Ok(CHECKS.iter().filter(wanted).filter(audited).collect())
}

fn list(output: Output, chosen: &[&'static Check]) -> Result<(), Failure> {
    if output.json {
        let items: Vec<Value> = chosen.iter().map(|c| json!({"name": c.name, "finds": c.finds, "page": c.page})).collect();
        return print(&json!({"items": items, "total": items.len(), "next": null}).to_string());
    }
    print(&rows(&["check", "finds"], chosen.iter().map(|check| vec![check.name.to_owned(), check.finds.to_owned()])))
}

/// Looks for a server; where none is named and none answers, opens the store. What did not answer is a finding.
async fn reach(args: RemoteArgs, store: Option<&StoreUrl>) -> Result<Context, Failure> {
    let (output, named, has_token, shown) = (args.output(), args.names_a_server(), args.has_token(), args.shown());
    let server = (!args.is_a_store()).then(|| shown.clone());
    let remote = args.connect().await?;
    let asked = match timeout(ONE, remote.get("/health")).await {
        Ok(answer) => answer.map(drop),
        Err(_) => Err(Failure::unreachable(format!("{shown} does not answer within {} s", ONE.as_secs()))),
    };
    Ok(match asked {
        Ok(()) => Context::new(Some(remote), server, has_token),
        // A degraded server answers 503, and other questions perhaps.
        Err(failure) if !failure.is_unreachable() => {
            let found = finding::error(failure.in_one_line()).cleared_by("ojs health");
            Context::new(Some(remote), server, has_token).unanswered(found)
        }
        Err(_) if !named && store.is_some() => {
            let found = finding::ok(format!("none answers at {DEFAULT_URL}: the store itself was looked at"));
            Context::new(opened(store, output).await?, None, false).unanswered(found)
        }
        Err(failure) => {
            let found = finding::error(failure.in_one_line()).seen("url", shown).cleared_by("ojs server");
            Context::new(None, None, has_token).unanswered(found)
        }
    })
}

/// The store, opened in this process. Opening a store makes it, or brings it to this version: a look changes nothing.
async fn opened(store: Option<&StoreUrl>, output: Output) -> Result<Option<Remote>, Failure> {
    let Some(store) = store.cloned() else { return Ok(None) };
    let url = match &store {
        StoreUrl::Postgres { url, .. } => url.expose().to_owned(),
        other => other.to_string(),
    };
    let look = check::apart(move || {
        let sound = |subject| schema::look(&store, subject, ONE).is_ok_and(|remarks| remarks.iter().all(|remark| remark.ok));
        sound(Subject::Schema) && sound(Subject::Sound)
    });
    if !timeout(ONE, look).await.unwrap_or(Ok(false))? {
        return Ok(None);
    }
    match timeout(ONE, RemoteArgs::open(&url, output)).await {
        Ok(remote) => remote.map(Some),
        Err(_) => Ok(None),
    }
}

/// All findings.
struct Report {
    findings: Vec<Finding>,
    strict: bool,
}

impl Report {
    fn new(findings: Vec<Finding>, strict: bool) -> Self {
        Self { findings, strict }
    }

    fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level.is_problem(self.strict)).count()
    }

    fn to_json(&self) -> Value {
        self.shown(|finding| finding.clone())
    }

    /// Without what others wrote: error messages may quote arguments.
    fn without_quotes(&self) -> Value {
        let left_out = |finding: &Finding| Finding { message: "(left out: it quotes a message)".to_owned(), ..finding.clone() };
        self.shown(|finding| if finding.quotes { left_out(finding) } else { finding.clone() })
    }

    fn shown(&self, form: impl Fn(&Finding) -> Finding) -> Value {
        let page = |finding: &Finding| check::find(finding.check).map_or("", |check| check.page);
        let list: Vec<Value> = self.findings.iter().map(|finding| form(finding).to_json(page(finding))).collect();
        json!({"findings": list, "problems": self.problems()})
    }

    fn show(&self, output: Output) -> Result<(), Failure> {
        if output.json {
            return print(&self.to_json().to_string());
        }
        let mut lines: Vec<String> = Vec::new();
        for finding in self.findings.iter().filter(|finding| finding.level != Level::Skipped) {
            lines.push(format!("{:<8} {}: {}", finding.level.as_str(), finding.check, finding.message));
            if let (Some(command), true) = (&finding.command, finding.level >= Level::Note) {
                lines.push(format!("{:<8} try: {command}", ""));
            }
        }
        let mut left: Vec<(&str, Vec<&str>)> = Vec::new();
        for finding in self.findings.iter().filter(|finding| finding.level == Level::Skipped) {
            match left.iter_mut().find(|(why, _)| *why == finding.message) {
                Some((_, names)) => names.push(finding.check),
                None => left.push((&finding.message, vec![finding.check])),
            }
        }
        lines.extend(left.iter().map(|(why, names)| format!("skipped  {}: {why}", names.join(", "))));
        print(&lines.join("\n"))
    }

    fn judge(&self) -> Result<(), Failure> {
        match self.problems() {
            0 => Ok(()),
            problems => Err(Failure::partly(format!("{problems} of {} findings want a look", self.findings.len()))),
        }
    }
}
