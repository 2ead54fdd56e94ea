//! The deadline of a round: when nothing has moved for a while, which jobs hang, and where.
use std::io;
use std::time::Duration;

use ojs_tests::Wire;
use serde_json::Value;
use tokio::time::Instant;

use super::client_log::ClientLog;
use super::host::Whereabouts;

/// How long nothing may move: longer than a lease, a restart of the database and a take-over of maintenance together.
pub const STILL: Duration = Duration::from_secs(60);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(500);
/// Jobs told one by one, of each state.
const MOST: usize = 5;

/// Resolves with a report when no job was added or completed for [`STILL`].
pub async fn watch(mut whereabouts: Whereabouts, client_log: &ClientLog) -> String {
    let (mut seen, mut since) = (Err("no server has answered".to_owned()), Instant::now());
    while since.elapsed() < STILL {
        tokio::time::sleep(LOOK).await;
        let now = tokio::time::timeout(STILL, progress(&mut whereabouts)).await;
        let now = now.map_err(|_| "no server answers".to_owned()).and_then(|now| now.map_err(|error| error.to_string()));
        // A server that does not answer is no progress.
        if now.is_ok() && now != seen {
            (seen, since) = (now, Instant::now());
        }
    }
    let jobs = match tokio::time::timeout(STILL, hanging(&mut whereabouts, client_log)).await {
        Ok(Ok(jobs)) => jobs,
        Ok(Err(error)) => format!("they cannot be listed: {error}"),
        Err(_) => "they cannot be listed: no server answers".to_owned(),
    };
    format!("nothing has moved for {STILL:?}; completed and total: {seen:?}\n{jobs}")
}

async fn ask(wire: &mut Wire, path: &str) -> io::Result<Value> {
    let answer = wire.call("GET", path, "").await?;
    if answer.status == 200 { Ok(answer.json()) } else { Err(io::Error::other(format!("{path}: {}", answer.status))) }
}

async fn progress(whereabouts: &mut Whereabouts) -> io::Result<(u64, u64)> {
    let stats = ask(&mut whereabouts.connect().await, "/queues/default/stats").await?;
    let count = |name: &str| stats["queue"][name].as_u64().unwrap_or_default();
    Ok((count("completed"), count("total")))
}

/// Jobs that are not completed, by state, with what the clients know of each.
async fn hanging(whereabouts: &mut Whereabouts, client_log: &ClientLog) -> io::Result<String> {
    let mut wire = whereabouts.connect().await;
    let mut report = String::new();
    for state in ["scheduled", "available", "pending", "active", "retryable", "cancelled", "discarded"] {
        let page = ask(&mut wire, &format!("/admin/jobs?queue=default&state={state}")).await?;
        let jobs = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if jobs.is_empty() {
            continue;
        }
        report.push_str(&format!("{} {state}, among them:\n", page["pagination"]["total"]));
        for job in jobs.iter().take(MOST) {
            let id = job["id"].as_str().unwrap_or_default();
            report.push_str(&format!("  {id}: {}; {job}\n", client_log.describe(id)));
        }
    }
    let workers = ask(&mut wire, "/admin/workers").await?;
    let stats = ask(&mut wire, "/admin/stats").await?;
    Ok(format!("{report}workers: {workers}\nstats: {stats}"))
}
