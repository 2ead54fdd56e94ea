//! `ojs doctor`: looks for what is wrong, and says what to do.
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use ojs_engine::{StoreUrl, schema};
use ojs_model::Timestamp;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{items, print, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs doctor                                    ask the server at OJS_URL
  ojs doctor --store postgres://ojs@db/jobs     look at the database as well
  ojs doctor --json | jq '.findings[] | select(.level != \"ok\")'";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// Look at the store itself, too: its schema, its connections, transactions that stay open.
    #[arg(long, value_name = "URL", env = "OJS_STORE", hide_env_values = true)]
    store: Option<String>,
}

/// Clocks may differ by so much before leases and schedules are noticeably off.
const MAX_SKEW_MS: i64 = 2_000;
/// A job that has been available for longer than this is waiting for somebody.
const LONG_WAIT_MS: i64 = 600_000;
/// An attempt that runs for longer than this is worth a look.
const LONG_RUN_MS: i64 = 3_600_000;
/// A transaction of anybody's that stays open for longer than this holds back vacuum.
const LONG_TRANSACTION: Duration = Duration::from_secs(30);
/// How far back dead letters are new.
const RECENT_MS: i64 = 3_600_000;

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
pub async fn run(command: Doctor, remote: Remote) -> Result<(), Failure> {
    let mut findings = match &command.store {
        Some(url) => of_store(url).await?,
        None => Vec::new(),
    };
    findings.push(server(&remote).await?);
    findings.push(clock(&remote).await?);
    findings.push(maintenance(&remote).await?);
    let queues = remote.get("/admin/queues?per_page=100").await?.value;
    let workers = remote.get("/admin/workers?per_page=100").await?.value;
    findings.push(silent_workers(&workers));
    findings.extend(waiting(&remote, &queues, &workers).await?);
    findings.extend(running(&remote, &queues).await?);
    findings.push(dead_letters(&remote).await?);
    let problems = findings.iter().filter(|finding| finding.level != "ok").count();
    if remote.output.json {
        let list: Vec<Value> =
            findings.iter().map(|f| json!({"check": f.check, "level": f.level, "message": f.message})).collect();
        print(&json!({"findings": list, "problems": problems}).to_string());
    } else {
        findings.iter().for_each(|f| print(&format!("{:<8} {}: {}", f.level, f.check, f.message)));
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

fn silent_workers(workers: &Value) -> Finding {
    let stale = workers.pointer("/summary/stale").and_then(Value::as_u64).unwrap_or(0);
    if stale == 0 {
        return ok("workers", format!("{} known, none silent", text(workers, "/summary/total")));
    }
    let silent =
        items(workers, "/items").iter().filter(|worker| text(worker, "/state") == "stale").map(|worker| text(worker, "/id"));
    let ids = silent.collect::<Vec<_>>().join(", ");
    warning("workers", format!("{stale} silent ({ids}): their jobs return 30 s after the last heartbeat"))
}

/// Queues whose jobs wait too long.
async fn waiting(remote: &Remote, queues: &Value, workers: &Value) -> Result<Vec<Finding>, Failure> {
    let nobody = text(workers, "/summary/total") == "0";
    let mut findings = Vec::new();
    for queue in items(queues, "/items") {
        let name = text(queue, "/name");
        let available = queue.pointer("/counts/available").and_then(Value::as_i64).unwrap_or(0);
        if available == 0 {
            continue;
        }
        let detail = remote.get(format!("/admin/queues/{}", segment(&name))).await?.value;
        let oldest = Timestamp::parse(&text(&detail, "/oldest_available_at")).map_or(0, Timestamp::as_millis);
        let waited = now_ms().saturating_sub(oldest);
        if oldest == 0 || waited < LONG_WAIT_MS {
            continue;
        }
        let why = match (text(queue, "/paused") == "true", nobody) {
            (true, _) => "the queue is paused: `ojs queues resume`",
            (_, true) => "no worker is known: start one",
            _ => "no worker asks for this queue, or they are too few",
        };
        findings.push(warning("waiting", format!("{available} jobs of '{name}', the oldest for {} min: {why}", waited / 60_000)));
    }
    if findings.is_empty() {
        findings.push(ok("waiting", "no job has been available for more than 10 minutes"));
    }
    Ok(findings)
}

/// Attempts that run for long, and leases that are shorter than handlers usually take.
async fn running(remote: &Remote, queues: &Value) -> Result<Vec<Finding>, Failure> {
    let active = remote.get("/admin/jobs?state=active&order=asc&per_page=100").await?.value;
    let p99 = |name: &str| {
        let queue = items(queues, "/items").iter().find(|queue| text(queue, "/name") == name)?;
        queue.pointer("/latency_ms/p99").and_then(Value::as_f64)
    };
    let (mut long, mut short) = (Vec::new(), Vec::new());
    for job in items(&active, "/items") {
        let started = Timestamp::parse(&text(job, "/started_at")).map_or(i64::MAX, Timestamp::as_millis);
        if now_ms().saturating_sub(started) > LONG_RUN_MS {
            long.push(text(job, "/id"));
        }
        let lease = job.pointer("/visibility_timeout_ms").and_then(Value::as_f64);
        if let (Some(lease), Some(p99)) = (lease, p99(&text(job, "/queue")))
            && lease < p99
        {
            short.push(format!("{} ({lease:.0} ms, handlers take {p99:.0} ms)", text(job, "/type")));
        }
    }
    short.sort_unstable();
    short.dedup();
    Ok(vec![
        if long.is_empty() {
            ok("running", "no attempt runs for more than an hour")
        } else {
            warning("running", format!("{} attempts run for more than an hour: {}", long.len(), long.join(", ")))
        },
        if short.is_empty() {
            ok("leases", "longer than handlers take")
        } else {
            warning("leases", format!("shorter than handlers take, jobs may run twice: {}", short.join(", ")))
        },
    ])
}

async fn dead_letters(remote: &Remote) -> Result<Finding, Failure> {
    let since = Timestamp::from_millis(now_ms() - RECENT_MS).to_string();
    let recent = remote.get(format!("/dead-letter?limit=1&since={}", segment(&since))).await?.value;
    let recent = recent.pointer("/pagination/total").and_then(Value::as_u64).unwrap_or(0);
    Ok(if recent > 0 {
        warning("dead letters", format!("{recent} in the last hour: `ojs dead-letter list` tells why"))
    } else {
        ok("dead letters", "none in the last hour")
    })
}
