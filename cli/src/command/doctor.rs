//! `ojs doctor`: looks for what is wrong, and says what to do.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use ojs_engine::{StoreUrl, schema};
use ojs_model::Timestamp;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Entry, Paging, Source};
use crate::output::{Output, print, text};
use crate::remote::{DEFAULT_URL, Remote, RemoteArgs};

mod audit;
mod failures;
mod running;
mod waiting;

const EXAMPLES: &str = "\
Examples:
  ojs doctor                                    ask the server at OJS_URL
  ojs doctor --store sqlite:jobs.db             a store without a server
  ojs doctor --store postgres://ojs@db/jobs     look at the database as well
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
}

/// Most queues that are looked at.
const QUEUES: usize = 1_000;
/// Clocks may differ by so much before leases and schedules are noticeably off.
const MAX_SKEW_MS: i64 = 2_000;
/// A transaction that stays open for longer than this holds back vacuum.
const LONG_TRANSACTION: Duration = Duration::from_secs(30);

/// What a check found.
#[derive(Debug)]
struct Finding {
    check: &'static str,
    /// `ok`, `warning` or `error`.
    level: &'static str,
    message: String,
}

fn ok(check: &'static str, message: impl Into<String>) -> Finding {
    Finding { check, level: "ok", message: message.into() }
}

fn warning(check: &'static str, message: impl Into<String>) -> Finding {
    Finding { check, level: "warning", message: message.into() }
}

/// Runs all checks. Anything but `ok` ends with exit status 1.
///
/// # Errors
/// No server, a refusal, or problems that were found.
pub async fn run(command: Doctor, args: RemoteArgs) -> Result<(), Failure> {
    let output = args.output();
    let mut findings = match &command.store {
        Some(url) => of_store(url).await?,
        None => Vec::new(),
    };
    let named = args.names_a_server();
    let remote = args.connect().await?;
    match (server(&remote).await, &command.store) {
        (Ok(finding), _) => {
            findings.push(finding);
            findings.push(clock(&remote).await?);
            jobs(&remote, command.audit, &mut findings).await?;
        }
        (Err(failure), Some(store)) if failure.is_unreachable() && !named => {
            findings.push(ok("server", format!("none answers at {DEFAULT_URL}: the store itself was looked at")));
            // Opening a store makes it, or brings it to this version: a look changes nothing.
            if findings.iter().all(|finding| finding.level == "ok") {
                jobs(&RemoteArgs::open(store, output).await?, command.audit, &mut findings).await?;
            }
        }
        (Err(failure), _) => return Err(failure),
    }
    report(output, &findings)
}

/// What the jobs, queues and workers say.
async fn jobs(remote: &Remote, audited: bool, findings: &mut Vec<Finding>) -> Result<(), Failure> {
    let list = |path: &str| Source { path: path.to_owned(), members: &["items"], paging: Paging::Numbered };
    findings.push(maintenance(remote).await?);
    let queues = list("/admin/queues").first(remote, QUEUES).await?;
    let workers = list("/admin/workers").all(remote).await?;
    findings.push(silent_workers(&workers));
    findings.extend(waiting::look(remote, &queues, &workers).await?);
    findings.extend(running::look(remote, &queues).await?);
    findings.extend(failures::look(remote).await?);
    if audited {
        findings.extend(audit::look(remote).await?);
    }
    Ok(())
}

fn report(output: Output, findings: &[Finding]) -> Result<(), Failure> {
    let problems = findings.iter().filter(|finding| finding.level != "ok").count();
    if output.json {
        let list: Vec<Value> =
            findings.iter().map(|f| json!({"check": f.check, "level": f.level, "message": f.message})).collect();
        print(&json!({"findings": list, "problems": problems}).to_string())?;
    } else {
        let lines: Vec<String> = findings.iter().map(|f| format!("{:<8} {}: {}", f.level, f.check, f.message)).collect();
        print(&lines.join("\n"))?;
    }
    if problems == 0 { Ok(()) } else { Err(Failure::partly(format!("{problems} of {} checks found something", findings.len()))) }
}

/// What the store itself says, without a server in between.
async fn of_store(url: &str) -> Result<Vec<Finding>, Failure> {
    let store = url.parse::<StoreUrl>();
    let store =
        store.map_err(|error| Failure::usage(format!("--store: {error}"), "for example --store postgres://ojs@db/jobs"))?;
    let looked = tokio::task::spawn_blocking(move || schema::checkup(&store, LONG_TRANSACTION)).await;
    let remarks =
        looked.map_err(|error| Failure::setting(error.to_string()))?.map_err(|fault| Failure::setting(fault.to_string()))?;
    let finding = |remark: schema::Remark| Finding {
        check: remark.check,
        level: if remark.ok { "ok" } else { "warning" },
        message: remark.message,
    };
    Ok(remarks.into_iter().map(finding).collect())
}

/// A degraded server answers 503: that ends the doctor with its words.
async fn server(remote: &Remote) -> Result<Finding, Failure> {
    let health = remote.get("/health").await?.value;
    let kind = text(&health, "/backend/type");
    if text(&health, "/backend/check/status") == "damaged" {
        let what = text(&health, "/backend/check/error");
        let advice = "stop the server, restore a backup, or save what can be with `sqlite3 FILE .recover`";
        return Ok(warning("server and store", format!("the database is damaged ({what}): {advice}")));
    }
    Ok(ok("server and store", format!("{kind} answers in {} ms", text(&health, "/backend/latency_ms"))))
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

async fn clock(remote: &Remote) -> Result<Finding, Failure> {
    let sent = now_ms();
    let answer = remote.get("/queues/default/stats").await?.value;
    let received = now_ms();
    let Some(told) = Timestamp::parse(&text(&answer, "/computed_at")).ok() else {
        return Ok(warning("clock", "the server does not tell its time"));
    };
    let skew = told.as_millis() - (sent + received) / 2;
    Ok(if skew.abs() > MAX_SKEW_MS + (received - sent) {
        warning("clock", format!("the server's clock is {skew} ms from this machine's: schedules will be off. Use NTP on both"))
    } else {
        ok("clock", format!("within {} ms of the server's", skew.abs()))
    })
}

async fn maintenance(remote: &Remote) -> Result<Finding, Failure> {
    let told = remote.get("/admin/system/maintenance").await?.value;
    Ok(if told.get("maintenance") == Some(&Value::Bool(true)) {
        let since = text(&told, "/enabled_at");
        warning("maintenance", format!("on since {since} ({}): nothing is handed out", text(&told, "/reason")))
    } else {
        ok("maintenance", "off")
    })
}

fn silent_workers(workers: &[Entry]) -> Finding {
    let silent: Vec<String> = workers
        .iter()
        .filter(|worker| text(&worker.value, "/state") == "stale")
        .map(|worker| text(&worker.value, "/id"))
        .collect();
    if silent.is_empty() {
        return ok("workers", format!("{} known, none silent", workers.len()));
    }
    let ids = silent.join(", ");
    warning("workers", format!("{} silent ({ids}): their jobs return 30 s after the last heartbeat", silent.len()))
}
