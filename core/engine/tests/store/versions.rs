//! Versions of jobs: they come back as they were sent, and each goes to a worker that runs it (extensions section 14).
use std::collections::BTreeMap;
use std::sync::Arc;

use ojs_engine::Handlers;
use ojs_engine::command::{Cancel, Claim, SetPriority};
use ojs_engine::job::JobView;
use ojs_model::{JobId, JobState};
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};

crate::on_every_store!(
    ver_001_a_version_comes_back_as_it_was_sent,
    ver_001_what_is_no_version_is_refused,
    ver_002_a_job_type_may_carry_its_version,
    ver_003_ranges_of_a_worker_are_checked,
    ver_004_a_job_goes_to_a_worker_whose_ranges_contain_its_version,
    ver_004_a_worker_declares_its_versions_in_a_heartbeat,
    ver_004_another_major_version_never_matches,
    ver_005_a_job_that_no_worker_runs_waits_and_holds_up_no_other,
    ver_005_a_job_that_fails_stands_in_its_line_again,
    ver_006_a_job_without_a_version_goes_to_any_worker,
    a_worker_that_declares_nothing_is_given_every_version,
    priority_and_age_count_across_versions,
    a_claim_of_job_types_is_given_their_versions,
    a_waiting_fetch_is_called_for_its_version,
    a_waiting_fetch_of_a_worker_that_declared_its_versions_is_called,
    limits_of_a_key_count_across_versions_and_hold_up_no_other_version,
    jobs_with_versions_can_be_cancelled_moved_and_expired,
    versions_make_different_jobs_of_a_unique_key,
    ei_010_each_step_of_a_workflow_has_a_version_of_its_own,
    versions_are_there_after_a_restart,
);

pub fn job(version: &str) -> String {
    format!(r#"{{"type":"mail","args":[],"version":{version},"options":{{"queue":"q"}}}}"#)
}

pub fn runs(handlers: &Value) -> Claim {
    Claim {
        queues: vec!["q".to_owned()],
        count: 100,
        worker: Some("w".to_owned()),
        handlers: Some(Arc::new(Handlers::parse(handlers).unwrap())),
        ..Claim::default()
    }
}

/// Claims what a worker gets that runs these versions of `mail`.
pub async fn claim(b: &Bench, versions: &str) -> Vec<JobId> {
    ids(&b.exchange(Vec::new(), Some(runs(&json!([{"type": "mail", "versions": versions}])))).await.1)
}

fn ids(jobs: &[JobView]) -> Vec<JobId> {
    jobs.iter().map(|job| job.row.id).collect()
}

async fn ver_001_a_version_comes_back_as_it_was_sent(b: Bench) {
    for version in [json!(2), json!("2"), json!("2.0"), json!("1.4.7"), json!(0)] {
        let body = json!({"type": "mail", "args": [], "version": version, "options": {"queue": "q"}}).to_string();
        let (status, answer) = b.http("POST", "/jobs", &body).await;
        assert_eq!((status, &answer["job"]["version"]), (201, &version));
        let id = answer["job"]["id"].as_str().unwrap();
        let fetched = b.http("POST", "/workers/fetch", r#"{"queues":["q"],"worker_id":"w"}"#).await.1;
        assert_eq!((&fetched["jobs"][0]["id"], &fetched["jobs"][0]["version"]), (&json!(id), &version));
        let acked = b.http("POST", &format!("/jobs/{id}/ack"), r#"{"worker_id":"w"}"#).await.1;
        assert_eq!((&acked["job"]["state"], &acked["job"]["version"]), (&json!("completed"), &version));
        assert_eq!(b.http("GET", &format!("/jobs/{id}"), "").await.1["job"]["version"], version);
    }
    let (_, answer) = b.http("POST", "/jobs", r#"{"type":"mail","args":[],"version":null}"#).await;
    assert!(answer["job"].get("version").is_none(), "{answer}");
    // A place beside the other options.
    let (_, answer) = b.http("POST", "/jobs", r#"{"type":"mail","args":[],"options":{"version":"3.1"}}"#).await;
    assert_eq!(answer["job"]["version"], "3.1");
}

async fn ver_001_what_is_no_version_is_refused(b: Bench) {
    for version in ["-1", "1.5", "\"v2\"", "\"\"", "\"1.2.3.4\"", "true", "{}", "[2]", "\"1000000\""] {
        let (status, answer) = b.http("POST", "/jobs", &job(version)).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!("version")), "{version}: {answer}");
    }
    assert_eq!(b.counts("q").await, [0; 8]);
}

async fn ver_002_a_job_type_may_carry_its_version(b: Bench) {
    let (status, answer) = b.http("POST", "/jobs", r#"{"type":"mail@2.0","args":[],"options":{"queue":"q"}}"#).await;
    assert_eq!((status, &answer["job"]["type"], &answer["job"]["version"]), (201, &json!("mail"), &json!("2.0")));
    let (_, both) = b.http("POST", "/jobs", r#"{"type":"mail@2.0","version":3,"args":[],"options":{"queue":"q"}}"#).await;
    assert_eq!((&both["job"]["type"], &both["job"]["version"]), (&json!("mail"), &json!(3)), "the member comes first");
    for (wrong, field) in [("mail@", "type"), ("mail@x", "type"), ("mail@1@2", "type"), ("@2", "type"), ("Mail@2", "type")] {
        let (status, answer) = b.http("POST", "/jobs", &json!({"type": wrong, "args": []}).to_string()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{wrong}");
    }
    assert_eq!(claim(&b, "2.0").await.len(), 1);
}

async fn ver_003_ranges_of_a_worker_are_checked(b: Bench) {
    for (handlers, field) in [
        (json!("mail"), "handlers"),
        (json!([{"versions": "*"}]), "handlers"),
        (json!([{"type": "mail", "versions": "2.x"}]), "handlers.versions"),
        (json!([{"type": "mail", "versions": ">=3 <2"}]), "handlers.versions"),
        (json!([{"type": "a b"}]), "handlers.type"),
    ] {
        for path in ["/workers/fetch", "/workers/exchange", "/workers/heartbeat"] {
            let body = json!({"queues": ["q"], "worker_id": "w", "handlers": handlers}).to_string();
            let (status, answer) = b.http("POST", path, &body).await;
            assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{path} {handlers}");
        }
    }
    for versions in [json!("*"), json!("2.0"), json!(2), json!(">=2.0 <3.0"), json!(">=2.0,<3.0"), json!(["1", ">=2 <3"])] {
        let id = b.enqueue(&job("2")).await;
        let jobs = b.exchange(Vec::new(), Some(runs(&json!([{"type": "mail", "versions": versions}])))).await.1;
        assert_eq!(ids(&jobs), [id], "{versions}");
    }
}

async fn ver_004_a_job_goes_to_a_worker_whose_ranges_contain_its_version(b: Bench) {
    let (one, two, minor) = (b.enqueue(&job("1")).await, b.enqueue(&job("\"2.0\"")).await, b.enqueue(&job("\"2.3\"")).await);
    assert_eq!(claim(&b, ">=3.0").await, []);
    assert_eq!(claim(&b, "2.0").await, [two]);
    assert_eq!(claim(&b, ">=2.0 <3.0").await, [minor]);
    assert_eq!(claim(&b, "*").await, [one]);
    assert_eq!(claim(&b, "*").await, []);
}

async fn ver_004_a_worker_declares_its_versions_in_a_heartbeat(b: Bench) {
    let beat = |body: Value| {
        let b = &b;
        async move { assert_eq!(b.http("POST", "/workers/heartbeat", &body.to_string()).await.0, 200) }
    };
    beat(json!({"worker_id": "old", "handlers": [{"type": "mail", "versions": ["1"]}]})).await;
    beat(json!({"worker_id": "new", "handlers": [{"type": "mail", "versions": [">=2 <3"]}], "metadata": {"a": {"b": 1}}})).await;
    assert_eq!(b.http("GET", "/admin/workers/new", "").await.1["metadata"], json!({"a": {"b": 1}}));
    // Later ones need not repeat it.
    beat(json!({"worker_id": "new", "hostname": "h", "pid": 7})).await;
    let two = b.enqueue(&job("2")).await;
    assert_eq!(b.claim_for(Some("old"), &["q"], 9).await, []);
    assert_eq!(ids(&b.claim_for(Some("new"), &["q"], 9).await), [two]);
    let worker = b.http("GET", "/admin/workers/new", "").await.1;
    assert_eq!((&worker["hostname"], &worker["pid"]), (&json!("h"), &json!(7)), "{worker}");
    beat(json!({"worker_id": "old", "handlers": [{"type": "mail"}]})).await;
    let three = b.enqueue(&job("3")).await;
    assert_eq!(ids(&b.claim_for(Some("old"), &["q"], 9).await), [three], "it runs every version now");
}

async fn ver_004_another_major_version_never_matches(b: Bench) {
    b.enqueue(&job("2")).await;
    for versions in ["1", "1.0", ">=1.0 <2.0", "3", "2.1", ">2"] {
        assert_eq!(claim(&b, versions).await, [], "{versions}");
    }
    let other = b.exchange(Vec::new(), Some(runs(&json!([{"type": "sms"}])))).await.1;
    assert_eq!(other, [], "a worker that declares its job types runs no version of another");
    assert_eq!(claim(&b, "2.0").await.len(), 1);
}

async fn ver_005_a_job_that_no_worker_runs_waits_and_holds_up_no_other(b: Bench) {
    let held: Vec<String> = (0..150).map(|_| job("9")).collect();
    let held: Vec<&str> = held.iter().map(String::as_str).collect();
    b.try_enqueue(&held).await.unwrap();
    let (plain, one) = (b.job().await, b.enqueue(&job("1")).await);
    assert_eq!(claim(&b, "1").await, [plain, one], "behind the hundred and fifty");
    assert_eq!(b.counts("q").await[JobState::Available as usize], 150, "they stay available");
    assert_eq!(claim(&b, "9").await.len(), 100);
    assert_eq!(claim(&b, "9").await.len(), 50);
}

async fn ver_005_a_job_that_fails_stands_in_its_line_again(b: Bench) {
    let id = b.enqueue(&job("2")).await;
    let jobs = b.exchange(Vec::new(), Some(runs(&json!([{"type": "mail", "versions": "2"}])))).await.1;
    b.nack(&jobs[0], r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(60)).await;
    assert_eq!(b.state(id).await, JobState::Available);
    assert_eq!(claim(&b, "1").await, []);
    assert_eq!(claim(&b, "2").await, [id]);
}

async fn ver_006_a_job_without_a_version_goes_to_any_worker(b: Bench) {
    for versions in ["1", ">=2 <3", "*"] {
        let id = b.enqueue(r#"{"type":"mail","args":[],"options":{"queue":"q"}}"#).await;
        assert_eq!(claim(&b, versions).await, [id]);
    }
}

async fn a_worker_that_declares_nothing_is_given_every_version(b: Bench) {
    let all = [b.enqueue(&job("1")).await, b.job().await, b.enqueue(&job("2")).await];
    assert_eq!(ids(&b.claim(9).await), all, "in the order of their arrival");
}

async fn priority_and_age_count_across_versions(b: Bench) {
    let with = |version: &str, priority: i32| {
        format!(r#"{{"type":"mail","args":[]{version},"options":{{"queue":"q","priority":{priority}}}}}"#)
    };
    let mut jobs = BTreeMap::new();
    for (place, (version, priority)) in
        [("", 0), (r#","version":1"#, 5), (r#","version":2"#, 0), ("", 5), (r#","version":1"#, -5), ("", 9)]
            .into_iter()
            .enumerate()
    {
        jobs.insert((-priority, place), b.enqueue(&with(version, priority)).await);
    }
    let wanted: Vec<JobId> = jobs.into_values().collect();
    let mut got = Vec::new();
    for count in [1, 2, 3] {
        got.extend(ids(&b.claim(count).await));
    }
    assert_eq!(got, wanted);
}

async fn a_claim_of_job_types_is_given_their_versions(b: Bench) {
    let (mail, sms) = (b.enqueue(&job("2")).await, b.enqueue(&job("2").replace("mail", "sms")).await);
    let claim = |types: &str| Claim {
        queues: vec!["q".to_owned()],
        count: 9,
        worker: Some("w".to_owned()),
        types: vec![types.to_owned()],
        ..Claim::default()
    };
    assert_eq!(ids(&b.exchange(Vec::new(), Some(claim("sms"))).await.1), [sms]);
    assert_eq!(ids(&b.exchange(Vec::new(), Some(claim("mail"))).await.1), [mail]);
}

async fn a_waiting_fetch_is_called_for_its_version(b: Bench) {
    let fetch = |worker: &str, versions: &str| {
        json!({"queues": ["q"], "worker_id": worker, "wait_ms": 60_000, "handlers": [{"type": "mail", "versions": versions}]})
            .to_string()
    };
    check_waiting_fetches(&b, &fetch("old", "1"), &fetch("new", "2")).await;
}

/// Two workers wait, and each is called for the job of its version.
async fn check_waiting_fetches(b: &Bench, old: &str, new: &str) {
    let enqueue = async {
        let two = b.http("POST", "/jobs", &job("2")).await.1;
        let one = b.http("POST", "/jobs", &job("1")).await.1;
        (one["job"]["id"].clone(), two["job"]["id"].clone())
    };
    let ((_, old), (_, new), (one, two)) =
        tokio::join!(b.http("POST", "/workers/fetch", old), b.http("POST", "/workers/fetch", new), enqueue);
    assert_eq!((&old["jobs"][0]["id"], &new["jobs"][0]["id"]), (&one, &two));
}

async fn a_waiting_fetch_of_a_worker_that_declared_its_versions_is_called(b: Bench) {
    for (worker, versions) in [("old", "1"), ("new", "2")] {
        let beat = json!({"worker_id": worker, "handlers": [{"type": "mail", "versions": versions}]}).to_string();
        assert_eq!(b.http("POST", "/workers/heartbeat", &beat).await.0, 200);
    }
    let fetch = |worker: &str| json!({"queues": ["q"], "worker_id": worker, "wait_ms": 60_000}).to_string();
    check_waiting_fetches(&b, &fetch("old"), &fetch("new")).await;
}

async fn limits_of_a_key_count_across_versions_and_hold_up_no_other_version(b: Bench) {
    let with = |version: &str| {
        format!(r#"{{"type":"mail","args":[]{version},"options":{{"queue":"q","rate_limit":{{"key":"k","concurrency":1}}}}}}"#)
    };
    let mut jobs = Vec::new();
    for version in [r#","version":1"#, r#","version":1"#, r#","version":2"#, "", r#","version":2"#] {
        jobs.push(b.enqueue(&with(version)).await);
    }
    let two = |b: &Bench| {
        let claim = runs(&json!([{"type": "mail", "versions": "2"}]));
        let engine = b.engine.clone();
        async move {
            let exchange = ojs_engine::command::Exchange { outcomes: Vec::new(), claim: Some(claim) };
            engine.store().execute(exchange).await.unwrap().jobs
        }
    };
    // The first of version 1 waits for a worker; the key has its slot for version 2 and for jobs without a version.
    let first = two(&b).await;
    assert_eq!(ids(&first), [jobs[2]]);
    assert_eq!(two(&b).await, [], "the key has one slot");
    b.ack(&first[0]).await.unwrap();
    let second = two(&b).await;
    assert_eq!(ids(&second), [jobs[3]]);
    b.ack(&second[0]).await.unwrap();
    let third = two(&b).await;
    assert_eq!(ids(&third), [jobs[4]]);
    b.ack(&third[0]).await.unwrap();
    for id in [jobs[0], jobs[1]] {
        let one = b.exchange(Vec::new(), Some(runs(&json!([{"type": "mail", "versions": "1"}])))).await.1;
        assert_eq!(ids(&one), [id]);
        b.ack(&one[0]).await.unwrap();
    }
}

async fn jobs_with_versions_can_be_cancelled_moved_and_expired(b: Bench) {
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(b.enqueue(&job("2")).await);
    }
    b.change(Cancel(jobs[0])).await.unwrap();
    b.change(SetPriority(jobs[2], 9)).await.unwrap();
    assert_eq!(claim(&b, "1").await, []);
    assert_eq!(claim(&b, "2").await, [jobs[2], jobs[1]]);
    let body = r#"{"type":"mail","args":[],"version":2,"options":{"queue":"q","enqueue_ttl":5}}"#;
    let late = b.enqueue(body).await;
    b.clock.advance(seconds(6));
    assert_eq!(claim(&b, "2").await, [], "expired on the way");
    // On PostgreSQL maintenance may have been faster, and the claim has stepped over a row that it holds.
    b.engine.store().sweep().await.unwrap();
    assert_eq!(b.state(late).await, JobState::Discarded);
    let (scheduled, pending) = (
        b.enqueue(r#"{"type":"mail","args":[],"version":2,"options":{"queue":"q","delay_until":"+PT5S"}}"#).await,
        b.enqueue(r#"{"type":"mail","args":[],"version":2,"options":{"queue":"q","pending":true}}"#).await,
    );
    b.advance(seconds(6)).await;
    b.change(ojs_engine::command::Activate(pending)).await.unwrap();
    assert_eq!(claim(&b, "1").await, []);
    assert_eq!(claim(&b, "2").await, [scheduled, pending]);
}

async fn versions_make_different_jobs_of_a_unique_key(b: Bench) {
    let with = |version: &str, keys: &str| {
        format!(r#"{{"type":"mail","args":[1]{version},"options":{{"queue":"q","unique":{{{keys}"on_conflict":"reject"}}}}}}"#)
    };
    let status = |body: String| {
        let b = &b;
        async move { b.http("POST", "/jobs", &body).await.0 }
    };
    let by_default = "";
    assert_eq!(status(with(r#","version":1"#, by_default)).await, 201);
    assert_eq!(status(with(r#","version":"1.0""#, by_default)).await, 409, "1 and 1.0 are one version");
    assert_eq!(status(with(r#","version":2"#, by_default)).await, 201);
    assert_eq!(status(with("", by_default)).await, 201);
    let named = r#""keys":["type","args","version"],"#;
    assert_eq!(status(with(r#","version":1"#, named)).await, 201);
    assert_eq!(status(with(r#","version":2"#, named)).await, 201);
    assert_eq!(status(with(r#","version":2"#, named)).await, 409);
    let left_out = r#""keys":["type","args"],"#;
    assert_eq!(status(with(r#","version":1"#, left_out)).await, 201);
    assert_eq!(status(with(r#","version":2"#, left_out)).await, 409, "the policy names what counts");
}

async fn ei_010_each_step_of_a_workflow_has_a_version_of_its_own(b: Bench) {
    let body = json!({"type": "chain", "name": "c", "steps": [
        {"type": "mail", "args": [], "version": 1, "options": {"queue": "q"}},
        {"type": "mail@2.0", "args": [], "options": {"queue": "q"}},
        {"type": "mail", "args": [], "options": {"queue": "q"}},
    ]});
    let (status, _) = b.http("POST", "/workflows", &body.to_string()).await;
    assert_eq!(status, 201);
    let step = |versions: &str| {
        let claim = runs(&json!([{"type": "mail", "versions": versions}]));
        let b = &b;
        async move { b.exchange(Vec::new(), Some(claim)).await.1 }
    };
    assert_eq!(step("2").await, []);
    let first = step("1").await;
    assert_eq!(first.len(), 1);
    b.ack(&first[0]).await.unwrap();
    assert_eq!(step("1").await, []);
    let second = step("2").await;
    assert!(second[0].body.text.contains(r#""version":"2.0""#), "{}", second[0].body.text);
    b.ack(&second[0]).await.unwrap();
    assert_eq!(step("7").await.len(), 1, "a step without a version goes to any worker");
}

async fn versions_are_there_after_a_restart(b: Bench) {
    let id = b.enqueue(&job("2")).await;
    let b = if b.engine.options().store.to_string().starts_with("memory") { b } else { b.reopened().await };
    assert_eq!(claim(&b, "1").await, []);
    assert_eq!(claim(&b, "2").await, [id]);
}

#[tokio::test]
async fn two_nodes_hand_out_each_job_once_to_a_worker_that_runs_it() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let (one, two) = (job("1"), job("2"));
    // The second node knows the queue before it has a version.
    other.job().await;
    assert_eq!(other.claim(1).await.len(), 1);
    let batch: Vec<&str> = (0..200).map(|place| if place % 2 == 0 { one.as_str() } else { two.as_str() }).collect();
    let stored = ids(&b.try_enqueue(&batch).await.unwrap());
    let take = |b: &Bench, versions: &'static str| {
        let engine = b.engine.clone();
        async move {
            let mut got = Vec::new();
            loop {
                let claim = Claim { count: 7, ..runs(&json!([{"type": "mail", "versions": versions}])) };
                let exchange = ojs_engine::command::Exchange { outcomes: Vec::new(), claim: Some(claim) };
                let jobs = engine.store().execute(exchange).await.unwrap().jobs;
                if jobs.is_empty() {
                    return got;
                }
                got.extend(ids(&jobs));
            }
        }
    };
    let (first, second, third, fourth) = tokio::join!(take(&b, "1"), take(&other, "1"), take(&b, "2"), take(&other, "2"));
    let rest = [take(&b, "1").await, take(&b, "2").await].concat();
    let mut ones = [first, second].concat();
    let mut twos = [third, fourth].concat();
    for id in rest {
        let of_one = stored.iter().position(|stored| *stored == id).unwrap() % 2 == 0;
        if of_one { ones.push(id) } else { twos.push(id) }
    }
    let wanted = |rest: usize| {
        let mut ids: Vec<JobId> = stored.iter().copied().enumerate().filter(|(at, _)| at % 2 == rest).map(|(_, id)| id).collect();
        ids.sort_unstable();
        ids
    };
    ones.sort_unstable();
    twos.sort_unstable();
    assert_eq!((ones, twos), (wanted(0), wanted(1)));
}

#[tokio::test]
async fn a_node_calls_the_fetch_of_another_node_for_its_version() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let fetch = |versions: &str| {
        json!({"queues": ["q"], "worker_id": versions, "wait_ms": 60_000, "handlers": [{"type": "mail", "versions": versions}]})
            .to_string()
    };
    let (old, new) = (fetch("1"), fetch("2"));
    let enqueue = async {
        let two = b.http("POST", "/jobs", &job("2")).await.1["job"]["id"].clone();
        let one = b.http("POST", "/jobs", &job("1")).await.1["job"]["id"].clone();
        (one, two)
    };
    let ((_, old), (_, new), (one, two)) =
        tokio::join!(other.http("POST", "/workers/fetch", &old), other.http("POST", "/workers/fetch", &new), enqueue);
    assert_eq!((&old["jobs"][0]["id"], &new["jobs"][0]["id"]), (&one, &two));
}
