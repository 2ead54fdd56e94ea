//! The checks: their names, what each needs, and how they run: side by side, each with a time limit.
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::context::Context;
use super::finding::{Finding, error, skipped};
use super::{
    audit, clock, crons, exposed, failures, flow, forgotten, health, jobs, limits, machine, noisy, outbox, relays, retention,
    store,
};
use super::{versions, waiting, workers};
use crate::failure::Failure;

/// Longest time of one check.
pub const ONE: Duration = Duration::from_secs(5);
/// Longest time of all of them, the look for a server included.
pub const ALL: Duration = Duration::from_secs(15);

/// What a check needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A server, or a store that could be opened instead.
    Jobs,
    /// A server.
    Server,
    /// The URL of the store.
    Store,
    /// Nothing but this machine.
    Nothing,
}

/// The future of the findings of a check.
pub type Looking<'a> = Pin<Box<dyn Future<Output = Result<Vec<Finding>, Failure>> + Send + 'a>>;

/// One check.
pub struct Check {
    /// Its name: part of the interface.
    pub name: &'static str,
    /// What it finds.
    pub finds: &'static str,
    /// What it needs.
    pub needs: Needs,
    /// The page of the guide.
    pub page: &'static str,
    look: for<'a> fn(&'a Context) -> Looking<'a>,
}

macro_rules! checks {
    ($($name:literal $needs:ident $look:path, $page:literal, $finds:literal;)*) => {
        &[$(Check {
            name: $name,
            finds: $finds,
            needs: Needs::$needs,
            page: $page,
            look: |context| Box::pin($look(context)),
        }),*]
    };
}

/// All checks, in the order of the report.
pub const CHECKS: &[Check] = checks! {
    "server.health" Nothing health::server, "docs/guide/operating.md#watch", "a server that does not answer, or says that it is degraded";
    "store.schema" Store store::schema, "docs/guide/operating.md#upgrade", "a schema that is older or newer than this program's";
    "store.drift" Store store::drift, "docs/guide/operating.md#upgrade", "tables, columns, indexes and functions that are missing, invalid or changed";
    "store.sound" Store store::sound, "docs/guide/operating.md#stores", "a damaged file, a log that grows, a network file system, a full disk";
    "store.durability" Store store::durability, "docs/guide/operating.md#stores", "settings and tables with which a crash loses confirmed jobs";
    "store.vacuum" Store store::vacuum, "docs/guide/postgresql.md", "space that nothing frees";
    "store.transactions" Store store::transactions, "docs/guide/postgresql.md", "what holds back vacuum: open and prepared transactions, replication slots";
    "store.connections" Store store::connections, "docs/guide/postgresql.md", "connections that run out, a pooler without `direct=`";
    "store.latency" Server store::latency, "docs/guide/operating.md#watch", "commits that take long";
    "clock.skew" Nothing clock::skew, "docs/guide/operating.md#watch", "clocks of server, database and this machine that differ";
    "server.limits" Server machine::limits, "docs/guide/operating.md#limits", "open files and memory near their limit";
    "server.exposed" Nothing exposed::look, "docs/guide/operating.md#access", "test mode, no keys or no TLS beyond loopback, a readable file of keys, old keys";
    "server.version" Server versions::look, "docs/guide/operating.md#upgrade", "versions of server, tool and workers that are far apart";
    "maintenance.on" Jobs health::maintenance, "docs/guide/operating.md#intervene", "maintenance that was left on";
    "queue.starving" Jobs waiting::look, "docs/guide/operating.md#why-is-it-not-running", "jobs that no worker takes";
    "queue.forgotten" Jobs forgotten::look, "docs/guide/operating.md#intervene", "paused queues, and names that look mistyped";
    "type.unknown" Jobs failures::unknown_types, "docs/guide/getting-started.md", "job types that no worker runs";
    "worker.silent" Jobs workers::look, "docs/guide/operating.md#watch", "workers that are silent, quiet for long, or have no slots";
    "lease.short" Jobs jobs::short_leases, "docs/guide/guarantees.md", "leases shorter than handlers take";
    "job.stuck" Jobs jobs::stuck, "docs/guide/operating.md#why-is-it-not-running", "attempts that run for long";
    "failures.rising" Jobs failures::look, "docs/guide/retries.md", "jobs that failed for good lately";
    "retention" Jobs retention::look, "docs/guide/operating.md#stores", "dead letters at their cap, pruning that is behind";
    "cron.missed" Jobs crons::look, "docs/guide/scheduling.md", "cron entries that are due and did not fire, or fall into a change of the clock";
    "limits.blocked" Jobs limits::look, "docs/guide/rate-limits.md", "keys whose limits let nothing through";
    "tenant.noisy" Jobs noisy::look, "docs/guide/tenants.md#noisy-neighbours", "tenants that wait, enqueue, run or fail far more than the others";
    "outbox.lag" Nothing outbox::look, "docs/guide/outbox.md", "an outbox that no relay empties, rows that the server refuses";
    "outbox.relays" Jobs relays::look, "docs/guide/outbox.md#the-relay", "relays that are silent or stuck, or whose rows the server refuses";
    "flow.blocked" Jobs flow::look, "docs/guide/trains.md", "workflows and trains that do not move, endpoints that get nothing";
    "store.audit" Jobs audit::look, "docs/guide/operating.md#watch", "rows that contradict each other (only with --audit)";
};

/// The check of a name.
pub fn find(name: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.name == name)
}

/// Runs checks side by side, until `end` at the latest.
pub async fn run(checks: Vec<&'static Check>, context: &Arc<Context>, end: Instant) -> Vec<Finding> {
    let each = Instant::now() + ONE;
    let running: Vec<(&'static Check, JoinHandle<Vec<Finding>>)> = checks
        .into_iter()
        .map(|check| {
            let context = Arc::clone(context);
            (check, tokio::spawn(async move { one(check, &context).await }))
        })
        .collect();
    let mut findings = Vec::new();
    for (check, task) in running {
        // The audit reads every row of the store: it may take longer than the other checks.
        let limit = if check.name == "store.audit" { Instant::now() + audit::LONGEST } else { each.min(end) };
        let aborted = task.abort_handle();
        let found = match tokio::time::timeout_at(limit, task).await {
            Ok(Ok(found)) => found,
            Ok(Err(fault)) => vec![failed(check, &panic_of(fault))],
            Err(_) => {
                aborted.abort();
                vec![failed(check, &format!("it did not end within {} s", ONE.as_secs()))]
            }
        };
        findings.extend(found.into_iter().map(|finding| Finding { check: check.name, ..finding }));
    }
    findings
}

async fn one(check: &'static Check, context: &Context) -> Vec<Finding> {
    match check.needs {
        Needs::Jobs if context.remote.is_none() => return vec![skipped("no server answers")],
        Needs::Server if context.url.is_none() || context.remote.is_none() => return vec![skipped("no server answers")],
        Needs::Store if context.store.is_none() => return vec![skipped("--store names no store to look at")],
        _ => {}
    }
    match (check.look)(context).await {
        Ok(found) => found,
        Err(fault) => vec![failed(check, &fault.in_one_line())],
    }
}

fn failed(check: &Check, why: &str) -> Finding {
    error(format!("the check could not be done: {why}")).quoting().cleared_by(format!("ojs doctor --only {}", check.name))
}

fn panic_of(fault: tokio::task::JoinError) -> String {
    let Ok(panic) = fault.try_into_panic() else { return "it was stopped".to_owned() };
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("it panicked ({said}); please report this bug")
}

/// Work that waits for a disk or a database, on a thread that the end of the process does not wait for.
///
/// # Errors
/// When it panics.
pub async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let (done, result) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("ojs-doctor".to_owned());
    thread.spawn(move || drop(done.send(work()))).map_err(|error| Failure::setting(format!("cannot start a thread: {error}")))?;
    result.await.map_err(|_| Failure::setting("it panicked; please report this bug"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    const BROKEN: &[Check] = checks! {
        "test.panics" Nothing panics, "", "";
        "test.fails" Nothing fails, "", "";
        "test.hangs" Nothing hangs, "", "";
        "test.fine" Nothing fine, "", "";
    };

    async fn panics(_: &Context) -> Result<Vec<Finding>, Failure> {
        panic!("an index was wrong")
    }

    async fn fails(_: &Context) -> Result<Vec<Finding>, Failure> {
        Err(Failure::setting("the file is gone"))
    }

    async fn hangs(_: &Context) -> Result<Vec<Finding>, Failure> {
        std::future::pending().await
    }

    async fn fine(_: &Context) -> Result<Vec<Finding>, Failure> {
        Ok(vec![super::super::finding::ok("well")])
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_panics_fails_or_hangs_is_a_finding_of_its_own() {
        let context = Arc::new(Context::new(None, None, false));
        let found = run(BROKEN.iter().collect(), &context, Instant::now() + ALL).await;
        let said: Vec<_> = found.iter().map(|f| (f.check, f.level, f.message.as_str())).collect();
        let expected = [
            (
                "test.panics",
                Level::Error,
                "the check could not be done: it panicked (an index was wrong); please report this bug",
            ),
            ("test.fails", Level::Error, "the check could not be done: the file is gone"),
            ("test.hangs", Level::Error, "the check could not be done: it did not end within 5 s"),
            ("test.fine", Level::Ok, "well"),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn names_are_unique_and_there_are_twenty_seven_beside_the_first_and_the_audit() {
        let mut names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        assert_eq!(names.len(), 29);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 29);
    }
}
