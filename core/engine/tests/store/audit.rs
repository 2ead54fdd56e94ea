//! The audit: a sound store has no findings, and each check finds the damage that it is there for. Every other test of
//! the suite audits its store when it ends.
use std::sync::Arc;

use ojs_engine::audit::Finding;
use ojs_engine::bulk::Batch;
use ojs_engine::command::{CreateWorkflow, Outcome, PutCron};
use ojs_engine::cron::{CronRow, Overlap};
use ojs_engine::idempotency::IdempotencyKey;
use ojs_model::workflow::NewWorkflow;
use ojs_model::{JobState, NewJob};

use crate::nodes::application;
use crate::support::{Bench, START};

/// A store with a row of every kind.
async fn filled(b: &Bench) {
    // The first sweep repairs trains; the next repair is a minute of the test's clock away.
    b.engine.store().sweep().await.unwrap();
    for state in JobState::ALL.into_iter().filter(|state| *state != JobState::Available) {
        b.job_in(state).await;
    }
    b.job_in(JobState::Available).await;
    let held = b.enqueue(r#"{"type":"t","args":[1],"options":{"queue":"results"}}"#).await;
    let job = b.claim_for(Some("w"), &["results"], 1).await.remove(0);
    assert_eq!(job.row.id, held);
    b.settle(held, Some(job.row.lease), Outcome::Ack(Some("[1]".into()))).await.unwrap();
    for _ in 0..2 {
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"keys","rate_limit":{"key":"k","concurrency":1}}}"#).await;
    }
    b.claim_for(Some("w"), &["keys"], 1).await;
    for _ in 0..2 {
        b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"trains","train":"t"}}"#).await;
    }
    let long = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"long"}}"#).await;
    b.claim_for(Some("w"), &["long"], 1).await;
    assert_eq!(b.http("PUT", &format!("/jobs/{long}/progress"), r#"{"progress":0.5,"checkpoint":{"page":7}}"#).await.0, 200);
    assert_eq!(b.http("DELETE", &format!("/jobs/{long}/history"), "").await.0, 200);
    let dead = r#"{"type":"t","args":[],"options":{"queue":"dead","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}}"#;
    b.enqueue(dead).await;
    let job = b.claim_for(Some("w"), &["dead"], 1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    for number in 0..2 {
        let states = r#"["available","active","pending","scheduled","retryable"]"#;
        let unique = format!(r#"{{"keys":["type","args"],"states":{states}}}"#);
        b.enqueue(&format!(r#"{{"type":"u","args":[{number}],"options":{{"queue":"unique","unique":{unique}}}}}"#)).await;
    }
    for _ in 0..2 {
        b.enqueue(r#"{"type":"t","args":[],"meta":{"tenant_id":"acme"},"options":{"queue":"tenants"}}"#).await;
    }
    let store = b.engine.store();
    let chain = r#"{"type":"chain","steps":[{"type":"s","args":[]},{"type":"s","args":[]},{"type":"s","args":[]}]}"#;
    let workflow = NewWorkflow::parse(chain, ojs_model::Timestamp::from_millis(START)).unwrap();
    drop(store.execute(CreateWorkflow(workflow)).await.unwrap());
    let cron = CronRow {
        name: "c".into(),
        expression: "* * * * *".into(),
        timezone: "UTC".into(),
        overlap: Overlap::Skip,
        enabled: true,
        description: None,
        template: r#"{"type":"t","args":[]}"#.into(),
        created_at: START,
        next_at: 0,
        last_at: 0,
        run_count: 0,
        last_job: None,
        waiting: 0,
    };
    drop(store.execute(PutCron(cron)).await.unwrap());
    let job = NewJob::parse(r#"{"type":"t","args":[]}"#, ojs_model::Timestamp::from_millis(START)).unwrap();
    let key = IdempotencyKey::new("bulk", None, "k", [7; 32]);
    let batch = Batch { jobs: vec![Ok(Arc::new(job))], atomic: true, key: Some(key) };
    drop(store.execute(batch).await.unwrap());
    b.enqueue(r#"{"type":"v","args":[],"version":2,"options":{"queue":"versions"}}"#).await;
    assert_eq!(b.http("PUT", "/admin/pools/p", r#"{"queues":["q","other"],"concurrency":100}"#).await.0, 201);
    assert_eq!(b.http("PUT", "/admin/queues/shared/fairness", r#"{"weights":{"acme":2}}"#).await.0, 201);
    b.enqueue(r#"{"type":"t","args":[],"meta":{"tenant_id":"acme"},"options":{"queue":"shared"}}"#).await;
    // Not active, so no delivery of it is sent.
    let webhook = r#"{"url":"https://example.com/","events":["*"],"active":false}"#;
    assert_eq!(b.http("POST", "/webhooks/subscriptions", webhook).await.0, 201);
    let push = r#"{"endpoint":"https://example.com/","job_types":["*"],"active":false}"#;
    assert_eq!(b.http("POST", "/push/endpoints", push).await.0, 201);
}

async fn audit(b: &Bench) -> Vec<Finding> {
    b.engine.audit().await.unwrap().findings
}

/// Runs SQL on the tables of the store; an empty text is for a check that only the other store has.
async fn damage(b: &Bench, sqlite: &str, postgres: &str) -> bool {
    b.audited.damaged();
    if b.database.is_some() {
        application(b).await.batch_execute(postgres).await.unwrap();
        return !postgres.is_empty();
    }
    rusqlite::Connection::open(b.dir.path().join("jobs.db")).unwrap().execute_batch(sqlite).unwrap();
    !sqlite.is_empty()
}

/// For each check: its name, a part of the finding, the damage to a file, and the damage to a database.
const DAMAGES: &[(&str, &str, &str, &str)] = &[
    ("checkpoints", "sequence", "UPDATE checkpoints SET sequence = 0", "UPDATE ojs_checkpoints SET sequence = 0"),
    ("checkpoints", "state", "UPDATE checkpoints SET state = '{'", "UPDATE ojs_checkpoints SET state = '{'"),
    ("checkpoints", "its checkpoint", "DELETE FROM checkpoints", "DELETE FROM ojs_checkpoints"),
    (
        "checkpoints",
        "says it has",
        "INSERT INTO checkpoints VALUES (x'00000000000000000000000000000007', 1, '1', 0, 0)",
        "INSERT INTO ojs_checkpoints VALUES ('00000000-0000-0000-0000-000000000007', 1, '1', 0, false)",
    ),
    ("history_cuts", "its history was deleted", "DELETE FROM history_cuts", "DELETE FROM ojs_history_cuts"),
    (
        "history_cuts",
        "says its history",
        "INSERT INTO history_cuts VALUES (x'00000000000000000000000000000007', 1, 0)",
        "INSERT INTO ojs_history_cuts VALUES ('00000000-0000-0000-0000-000000000007', 1, 0)",
    ),
    ("progress", "fraction", "UPDATE progress SET fraction = 7", "UPDATE ojs_progress SET fraction = 7"),
    ("progress", "attempt runs", "UPDATE progress SET active_at = 0", "UPDATE ojs_progress SET active_at = 0"),
    ("progress", "claim", "UPDATE progress SET lease = lease + 1000000", "UPDATE ojs_progress SET lease = lease + 1000000"),
    ("progress", "its progress", "DELETE FROM progress", "DELETE FROM ojs_progress"),
    (
        "progress",
        "has reported",
        "INSERT INTO progress VALUES (x'00000000000000000000000000000007', 1, 0.5, NULL, NULL, 0, 0, 1, 0)",
        "INSERT INTO ojs_progress VALUES ('00000000-0000-0000-0000-000000000007', 1, 0.5, NULL, NULL, 0, 0, 1, 0)",
    ),
    (
        "version_lines",
        "in the line of a version",
        "UPDATE jobs SET version = 0 WHERE version > 0",
        "UPDATE ojs_runs SET version = 0 WHERE version > 0",
    ),
    (
        "version_lines",
        "claims look for versions",
        "DELETE FROM versioned_queues",
        "DELETE FROM ojs_versioned_queues; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "fair_lines",
        "its key",
        "UPDATE jobs SET fair = 99, created_at = created_at + 1 WHERE fair > 0",
        "UPDATE ojs_runs SET fair = 99, created_at = created_at + 1 WHERE fair > 0",
    ),
    (
        "fair_lines",
        "in the line of a key",
        "UPDATE jobs SET fair = 0 WHERE fair > 0",
        "UPDATE ojs_runs SET fair = 0 WHERE fair > 0",
    ),
    (
        "fair_queues",
        "its default weight",
        "UPDATE fair_queues SET default_weight = 0",
        "UPDATE ojs_fair_queues SET default_weight = 0; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "fair_queues",
        "its weights",
        "UPDATE fair_queues SET weights = '{'",
        "UPDATE ojs_fair_queues SET weights = '{'; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "fair_lines",
        "claims look for lines of keys",
        "DELETE FROM fair_queues",
        "DELETE FROM ojs_fair_queues; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "pools",
        "its weight",
        "UPDATE pool_queues SET weight = 0",
        "UPDATE ojs_pool_queues SET weight = 0; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "pools",
        "its limit of active jobs",
        "UPDATE pools SET concurrency = -1",
        "UPDATE ojs_pools SET concurrency = -1; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "pools",
        "the share of each queue",
        "UPDATE pools SET least_share = -1",
        "UPDATE ojs_pools SET least_share = -1; UPDATE ojs_epoch SET value = value + 1",
    ),
    (
        "delivery_times",
        "due at some time",
        "INSERT INTO webhook_deliveries SELECT x'00000000000000000000000000000007', id, 'e', 'job.x', '{}', 9, 0, 0, 0, 0, 0, 0, 0, 0,
         '', '', 0, 0 FROM webhook_subscriptions",
        "INSERT INTO ojs_webhook_deliveries SELECT '00000000-0000-0000-0000-000000000007'::uuid, id, 'e', 'job.x', '{}', 9, 0, 0, 0, 0, 0,
         0, 0, 0, '', '', 0, 0 FROM ojs_webhook_subscriptions",
    ),
    (
        "push_breaker",
        "failures of an endpoint that is sent nothing",
        "UPDATE push_endpoints SET opened_at = 9",
        "UPDATE ojs_push_endpoints SET opened_at = 9",
    ),
    (
        "push_breaker",
        "the time of its latest failure",
        "UPDATE push_endpoints SET failures = 1",
        "UPDATE ojs_push_endpoints SET failures = 1",
    ),
    (
        "push_breaker",
        "the trial of an endpoint without a breaker",
        "UPDATE push_endpoints SET opened_at = 0, probe_until = 9",
        "UPDATE ojs_push_endpoints SET opened_at = 0, probe_until = 9",
    ),
    ("delivery_times", "has an end", "UPDATE webhook_deliveries SET state = 3", "UPDATE ojs_webhook_deliveries SET state = 3"),
    (
        "delivery_lease",
        "the lease",
        "UPDATE webhook_deliveries SET state = 1, due_at = 9",
        "UPDATE ojs_webhook_deliveries SET state = 1, due_at = 9",
    ),
    (
        "delivery_subscription",
        "its subscription",
        "UPDATE webhook_deliveries SET subscription = id",
        "UPDATE ojs_webhook_deliveries SET subscription = id",
    ),
    (
        "webhook_drops",
        "its subscription",
        "INSERT INTO webhook_drops VALUES (x'00000000000000000000000000000007', 1, 9)",
        "INSERT INTO ojs_webhook_drops VALUES ('00000000-0000-0000-0000-000000000007', 1, 9)",
    ),
    ("webhook_drops", "how many", "UPDATE webhook_drops SET events = 0", "UPDATE ojs_webhook_drops SET events = 0"),
    ("webhook_drops", "the first", "UPDATE webhook_drops SET since = 0", "UPDATE ojs_webhook_drops SET since = 0"),
    ("pools", "its pool", "DELETE FROM pools", "DELETE FROM ojs_pools; UPDATE ojs_epoch SET value = value + 1"),
    (
        "queue_counts",
        "available",
        "UPDATE counts SET jobs = jobs + 1 WHERE state = 1 AND jobs > 0",
        "UPDATE ojs_counts SET jobs = jobs + 1 WHERE state = 1 AND jobs > 0",
    ),
    (
        "job_fields",
        "lease_until",
        "UPDATE jobs SET lease_until = 0 WHERE state = 3",
        "UPDATE ojs_runs SET lease_until = 0 WHERE state = 3",
    ),
    (
        "job_fields",
        "lease is",
        "UPDATE jobs SET lease = 0 WHERE seq = (SELECT max(seq) FROM jobs WHERE state = 3)",
        "UPDATE ojs_runs SET lease = 0 WHERE seq = (SELECT max(seq) FROM ojs_runs WHERE state = 3)",
    ),
    (
        "job_fields",
        "started_at",
        "UPDATE jobs SET started_at = 0 WHERE state = 3",
        "UPDATE ojs_runs SET started_at = 0 WHERE state = 3",
    ),
    (
        "job_fields",
        "attempt is",
        "UPDATE jobs SET attempt = 0 WHERE state = 3",
        "UPDATE ojs_runs SET attempt = 0 WHERE state = 3",
    ),
    (
        "job_fields",
        "finished_at",
        "UPDATE jobs SET finished_at = 0 WHERE state = 4",
        "UPDATE ojs_runs SET finished_at = 0 WHERE state = 4",
    ),
    (
        "job_fields",
        "enqueued_at",
        "UPDATE jobs SET enqueued_at = 0 WHERE state = 1",
        "UPDATE ojs_runs SET enqueued_at = 0 WHERE state = 1",
    ),
    ("job_fields", "held", "UPDATE jobs SET nprio = 1000 WHERE state = 4", "UPDATE ojs_runs SET nprio = 1000 WHERE state = 4"),
    (
        "job_fields",
        "releases",
        "UPDATE jobs SET releases = 9 WHERE state = 4",
        "UPDATE ojs_runs SET releases = 9 WHERE state = 4",
    ),
    ("job_types", "type", "UPDATE jobs SET kind = 999 WHERE state = 2", "UPDATE ojs_runs SET kind = 999 WHERE state = 2"),
    ("workers", "holds", "UPDATE jobs SET worker = 999 WHERE state = 3", "UPDATE ojs_runs SET worker = 999 WHERE state = 3"),
    ("queues", "", "UPDATE jobs SET queue = 999 WHERE state = 2", "UPDATE ojs_runs SET queue = 999 WHERE state = 2"),
    ("event_lines", "event", "UPDATE events SET lines = 'x' WHERE seq = 1", "UPDATE ojs_events SET lines = 'x' WHERE seq = 1"),
    ("event_states", "state", "UPDATE jobs SET state = 6 WHERE state = 7", "UPDATE ojs_runs SET state = 6 WHERE state = 7"),
    (
        "bodies",
        "body of a job",
        "DELETE FROM bodies WHERE seq = (SELECT seq FROM jobs WHERE state = 5)",
        "DELETE FROM ojs_jobs WHERE seq = (SELECT seq FROM ojs_runs WHERE state = 5)",
    ),
    (
        "bodies",
        "job of a body",
        "INSERT INTO bodies (seq, body, timeout_ms, grace_ms, visibility_ms) VALUES (999999, '', 0, 0, 0)",
        "INSERT INTO ojs_jobs (seq, body) VALUES (999999, '')",
    ),
    (
        "bodies",
        "id of a job",
        "",
        "UPDATE ojs_jobs SET id = gen_random_uuid() WHERE seq = (SELECT seq FROM ojs_runs WHERE state = 0)",
    ),
    ("histories", "job", "INSERT INTO histories VALUES (999999, '', '')", "INSERT INTO ojs_histories VALUES (999999, '', '')"),
    ("leases", "one lease", "UPDATE jobs SET lease = 7 WHERE state = 3", ""),
    ("leases", "range", "UPDATE jobs SET lease = (SELECT value FROM settings WHERE name = 'next_lease') WHERE state = 3", ""),
    ("limit_counts", "active", "", "UPDATE ojs_runs SET filed = lease WHERE limited > 0 AND state = 3"),
    ("claims", "batch", "", "DELETE FROM ojs_claims; UPDATE ojs_runs SET filed = lease WHERE state = 3"),
    (
        "unique_keys",
        "uniqueness key",
        "UPDATE jobs SET ukey = (SELECT ukey FROM jobs WHERE ukey IS NOT NULL ORDER BY seq LIMIT 1) WHERE ukey IS NOT NULL",
        "UPDATE ojs_runs SET ukey = (SELECT ukey FROM ojs_runs WHERE ukey IS NOT NULL ORDER BY seq LIMIT 1) WHERE ukey IS NOT NULL",
    ),
    ("parked_jobs", "free slots", "UPDATE limits SET policy = ''", "UPDATE ojs_limits SET policy = ''"),
    (
        "parked_jobs",
        "key",
        "UPDATE jobs SET nprio = 1000 WHERE state = 1 AND limited = 0",
        "UPDATE ojs_runs SET nprio = 1000 WHERE state = 1 AND limited = 0",
    ),
    (
        "limit_keys",
        "key",
        "UPDATE jobs SET limited = 999 WHERE limited > 0",
        "UPDATE ojs_runs SET limited = 999 WHERE limited > 0",
    ),
    (
        "tenant_holds",
        "its tenant",
        "UPDATE jobs SET nprio = 4000 WHERE state = 1 AND tenant > 0",
        "UPDATE ojs_runs SET nprio = 4000 WHERE state = 1 AND tenant > 0",
    ),
    (
        "tenant_counts",
        "jobs by state",
        "UPDATE tenant_counts SET available = available + 1",
        "UPDATE ojs_tenant_counts SET available = available + 1",
    ),
    (
        "tenant_counts",
        "jobs by state",
        "UPDATE jobs SET tenant = 77 WHERE tenant > 0 AND seq IN (SELECT max(seq) FROM jobs WHERE tenant > 0)",
        "UPDATE ojs_runs SET tenant = 77 WHERE tenant > 0 AND seq IN (SELECT max(seq) FROM ojs_runs WHERE tenant > 0)",
    ),
    ("workflow_steps", "total", "UPDATE workflows SET total = 9", "UPDATE ojs_workflows SET total = 9"),
    ("workflow_steps", "succeeded", "UPDATE workflows SET completed = 9", "UPDATE ojs_workflows SET completed = 9"),
    ("workflow_steps", "ended", "UPDATE workflows SET ended = 9", "UPDATE ojs_workflows SET ended = 9"),
    ("workflow_states", "only then", "UPDATE workflows SET finished_at = 9", "UPDATE ojs_workflows SET finished_at = 9"),
    (
        "workflow_states",
        "of step 1",
        "UPDATE steps SET finished_at = 9 WHERE idx = 1",
        "UPDATE ojs_steps SET finished_at = 9 WHERE idx = 1",
    ),
    (
        "workflow_jobs",
        "workflow number",
        "UPDATE jobs SET step = 2 WHERE workflow > 0",
        "UPDATE ojs_runs SET step = 2 WHERE workflow > 0",
    ),
    (
        "workflow_steps",
        "in all",
        "UPDATE steps SET workflow = 999 WHERE idx = 2",
        "UPDATE ojs_steps SET workflow = 999 WHERE idx = 2",
    ),
    ("train_locomotives", "its locomotive", "UPDATE trains SET locomotive = NULL", "UPDATE ojs_trains SET locomotive = NULL"),
    ("train_positions", "position", "UPDATE trains SET next_position = 1", "UPDATE ojs_trains SET next_position = 1"),
    ("train_holds", "held_at", "UPDATE trains SET held_at = 9", "UPDATE ojs_trains SET held_at = 9"),
    ("train_drains", "has drained", "UPDATE trains SET state = 1", "UPDATE ojs_trains SET state = 1"),
    (
        "train_drains",
        "that drains",
        "INSERT INTO train_drains (train, until, deadline, lease_ms, worker, started_at) VALUES (999, 9, 9, 9, 0, 9)",
        "INSERT INTO ojs_train_drains (train, until, deadline, lease_ms, worker, started_at) VALUES (999, 9, 9, 9, 0, 9)",
    ),
    (
        "train_flags",
        "waits",
        "UPDATE jobs SET flags = flags | 8192 WHERE state = 3",
        "UPDATE ojs_runs SET flags = flags | 8192 WHERE state = 3",
    ),
    ("train_cars", "have a place", "DELETE FROM train_cars WHERE position = 2", "DELETE FROM ojs_train_cars WHERE position = 2"),
    (
        "dead_letters",
        "state",
        "UPDATE jobs SET flags = flags | 1 WHERE state = 4",
        "UPDATE ojs_runs SET flags = flags | 1 WHERE state = 4",
    ),
    ("dead_letters", "length", "", "UPDATE ojs_runs SET flags = flags | 1 WHERE state = 4"),
    (
        "results",
        "result",
        "UPDATE histories SET result = '{' WHERE result <> ''",
        "UPDATE ojs_histories SET result = '{' WHERE result <> ''",
    ),
    (
        "errors",
        "errors",
        "UPDATE histories SET errors = '[' WHERE errors <> ''",
        "UPDATE ojs_histories SET errors = '[' WHERE errors <> ''",
    ),
    ("cron_times", "next time", "UPDATE crons SET last_at = next_at", "UPDATE ojs_crons SET last_at = next_at"),
    ("cron_times", "disabled", "UPDATE crons SET enabled = 0", "UPDATE ojs_crons SET enabled = false"),
    ("cron_waiting", "wait", "UPDATE crons SET waiting = -1", "UPDATE ojs_crons SET waiting = -1"),
    ("answers", "digest", "UPDATE answers SET digest = x'00'", "UPDATE ojs_answers SET digest = '\\x00'"),
    ("answers", "status", "UPDATE answers SET status = 7", "UPDATE ojs_answers SET status = 7"),
    (
        "figures",
        "smallest",
        "INSERT INTO stats VALUES (60000, 1767225600000, 1, 1, -1, 0, 0, 0, '', '')",
        "INSERT INTO ojs_stats VALUES (60000, 1767225600000, 1, 1, -1, 0, 0, 0, '', '')",
    ),
    (
        "figures",
        "beginning",
        "INSERT INTO stats VALUES (60000, 1767225600007, 1, 1, 0, 0, 0, 0, '', '')",
        "INSERT INTO ojs_stats VALUES (60000, 1767225600007, 1, 1, 0, 0, 0, 0, '', '')",
    ),
    (
        "figures",
        "in all",
        "INSERT INTO stats VALUES (7, 1767225600000, 1, 1, 0, 0, 0, 0, '', '')",
        "INSERT INTO ojs_stats VALUES (7, 1767225600000, 1, 1, 0, 0, 0, 0, '', '')",
    ),
    ("queue_settings", "settings", "UPDATE queues SET effective = '{'", "UPDATE ojs_queues SET effective = '{'"),
    (
        "deleted_queues",
        "deleted",
        "UPDATE queues SET phase = 2 WHERE name = 'keys'",
        "UPDATE ojs_queues SET phase = 2 WHERE name = 'keys'",
    ),
    // The last ones, because a sweep makes the job of the first available.
    ("job_fields", "due time", "UPDATE jobs SET pos = 0 WHERE state = 0", "UPDATE ojs_runs SET pos = 0 WHERE state = 0"),
];

/// One damage after the other: each is found by its check, which was silent about it before.
async fn each_check_finds_its_damage(b: Bench) {
    filled(&b).await;
    assert_eq!(audit(&b).await, [], "a sound store");
    // The damages of a file cover all features. Of a database those are made that its tables take one after the other.
    let database = b.database.is_some();
    for (check, word, sqlite, postgres) in DAMAGES.iter().take_while(|damage| !database || damage.0 != "limit_counts") {
        let fits = |finding: &&Finding| finding.check == *check && finding.what.contains(word);
        let before = audit(&b).await.iter().filter(fits).count();
        if !damage(&b, sqlite, postgres).await {
            continue;
        }
        let found = audit(&b).await;
        assert!(found.iter().filter(fits).count() > before, "{check}, {word}: {found:#?}");
    }
}

#[tokio::test]
async fn each_check_finds_its_damage_in_a_file() {
    each_check_finds_its_damage(Bench::sqlite().await).await;
}

#[tokio::test]
async fn each_check_finds_its_damage_in_a_database() {
    each_check_finds_its_damage(Bench::postgres().await).await;
}

async fn a_store_with_a_row_of_every_kind_is_sound_and_stays_as_it_is(b: Bench) {
    filled(&b).await;
    let before = crate::refusals::digest_of(&**b.engine.store(), START).await;
    let audited = b.engine.audit().await.unwrap();
    assert_eq!((audited.findings, audited.total), (Vec::new(), 0));
    assert!(audited.jobs >= 15, "{} jobs", audited.jobs);
    assert_eq!(crate::refusals::digest_of(&**b.engine.store(), START).await, before);
}

crate::on_every_store! { a_store_with_a_row_of_every_kind_is_sound_and_stays_as_it_is }
