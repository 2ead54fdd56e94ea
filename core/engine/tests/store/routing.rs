//! Rules that give jobs a version which name none (extensions section 14), and steps of workflows (EI-010).
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};
use crate::versions::{claim, job, runs};

crate::on_every_store!(
    rules_give_a_share_of_the_jobs_a_version,
    what_is_no_rule_is_refused,
    a_version_that_a_rule_gave_is_compared_with_its_schema,
    ei_010_a_step_without_a_version_gets_the_latest_that_is_registered,
    a_version_that_fails_too_often_gets_no_more_jobs,
    the_version_with_the_largest_weight_is_never_taken_out,
    failures_of_long_ago_do_not_count,
);

#[tokio::test]
async fn a_rule_of_one_node_counts_on_the_other() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    let plain = r#"{"type":"mail","args":[],"options":{"queue":"q"}}"#;
    assert!(other.http("POST", "/jobs", plain).await.1["job"].get("version").is_none());
    assert_eq!(b.http("PUT", "/admin/routing/mail", r#"{"rules":[{"version":"2.0","weight":1}]}"#).await.0, 201);
    assert_eq!(other.http("POST", "/jobs", plain).await.1["job"]["version"], "2.0");
}

async fn rules_give_a_share_of_the_jobs_a_version(b: Bench) {
    let rules = json!({"rules": [{"version": "1.0", "weight": 3}, {"version": 2, "weight": 1}, {"version": 3, "weight": 0}]});
    let (status, put) = b.http("PUT", "/admin/routing/mail", &rules.to_string()).await;
    assert_eq!((status, &put["routing"]["rules"]), (201, &rules["rules"]));
    assert_eq!(b.http("PUT", "/admin/routing/mail", &rules.to_string()).await.0, 200);
    assert_eq!(b.http("GET", "/admin/routing/mail", "").await.1["routing"]["type"], "mail");
    let plain = r#"{"type":"mail","args":[],"options":{"queue":"q"}}"#;
    let jobs = b.try_enqueue(&vec![plain; 400]).await.unwrap();
    let of = |version: &str| jobs.iter().filter(|job| job.body.text.ends_with(&format!(r#""version":{version}"#))).count();
    let (one, two) = (of("\"1.0\""), of("2"));
    assert_eq!((one + two, of("3")), (400, 0));
    assert!((50..=150).contains(&two), "about a quarter: {two}");
    assert_eq!(claim(&b, ">=2").await.len().min(50), 50);
    // A job that names its version keeps it, and other types have no rules.
    assert_eq!(b.http("POST", "/jobs", &job("9")).await.1["job"]["version"], 9);
    assert!(b.http("POST", "/jobs", r#"{"type":"sms","args":[]}"#).await.1["job"].get("version").is_none());
    assert_eq!(b.http("DELETE", "/admin/routing/mail", "").await.0, 200);
    assert_eq!(b.http("DELETE", "/admin/routing/mail", "").await.0, 404);
    assert_eq!(b.http("GET", "/admin/routing/mail", "").await.0, 404);
    assert!(b.http("POST", "/jobs", plain).await.1["job"].get("version").is_none());
}

async fn what_is_no_rule_is_refused(b: Bench) {
    for (body, field) in [
        (json!({}), "rules"),
        (json!({"rules": []}), "rules"),
        (json!({"rules": [{"weight": 1}]}), "rules.version"),
        (json!({"rules": [{"version": "2.x", "weight": 1}]}), "rules.version"),
        (json!({"rules": [{"version": 1, "weight": -1}]}), "rules.weight"),
        (json!({"rules": [{"version": 1}]}), "rules.weight"),
        (json!({"rules": [{"version": 1, "weight": 0}]}), "rules"),
        (json!({"rules": [{"version": 1, "weight": 1}, {"version": "1.0", "weight": 1}]}), "rules"),
        (watched(json!(true)), "auto_rollback"),
        (watched(json!({})), "auto_rollback.error_rate_threshold"),
        (watched(json!({"error_rate_threshold": 1.5})), "auto_rollback.error_rate_threshold"),
        (watched(json!({"error_rate_threshold": 0.1, "evaluation_window": "PT1S"})), "auto_rollback.evaluation_window"),
        (watched(json!({"error_rate_threshold": 0.1, "evaluation_window": 300})), "auto_rollback.evaluation_window"),
        (watched(json!({"error_rate_threshold": 0.1, "min_attempts": 0})), "auto_rollback.min_attempts"),
        (watched(json!({"error_rate_threshold": 0.1, "action": "pause"})), "auto_rollback.action"),
        (watched(json!({"error_rate_threshold": 0.1, "treshold": 1})), "auto_rollback.treshold"),
    ] {
        let (status, answer) = b.http("PUT", "/admin/routing/mail", &body.to_string()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{body}: {answer}");
    }
    assert_eq!(b.http("PUT", "/admin/routing/Mail", r#"{"rules":[{"version":1,"weight":1}]}"#).await.0, 400);
    assert_eq!(b.http("GET", "/admin/routing/mail", "").await.0, 404);
}

/// Rules of two versions with this `auto_rollback`: three jobs of four get version 1.
fn watched(rollback: Value) -> Value {
    json!({"rules": [{"version": 1, "weight": 3}, {"version": 2, "weight": 1}], "auto_rollback": rollback})
}

/// Runs jobs of a version on a node: so many complete, then so many fail.
async fn run(b: &Bench, version: &str, completed: usize, failed: usize) {
    for number in 0..completed + failed {
        let id = b.enqueue(&job(version)).await;
        let claimed = b.claim(1).await.remove(0);
        assert_eq!(claimed.row.id, id);
        match number < completed {
            true => drop(b.ack(&claimed).await.unwrap()),
            false => drop(b.nack(&claimed, r#"{"code":"x","message":"m","retryable":false}"#).await.unwrap()),
        }
    }
}

async fn routing(b: &Bench) -> Value {
    b.http("GET", "/admin/routing/mail", "").await.1["routing"].clone()
}

async fn put(b: &Bench, body: &Value) -> Value {
    let (status, answer) = b.http("PUT", "/admin/routing/mail", &body.to_string()).await;
    assert!(status < 300, "{answer}");
    answer["routing"].clone()
}

const HALF: &str = r#"{"error_rate_threshold":0.5,"evaluation_window":"PT10M","min_attempts":4}"#;

fn half() -> Value {
    watched(serde_json::from_str(HALF).unwrap())
}

async fn a_version_that_fails_too_often_gets_no_more_jobs(b: Bench) {
    let shown = put(&b, &half()).await;
    let rollback = json!({"error_rate_threshold": 0.5, "evaluation_window": "PT10M", "min_attempts": 4, "action": "rollback"});
    assert_eq!((&shown["auto_rollback"], &shown["rolled_back"]), (&rollback, &json!([])));
    run(&b, "2", 0, 3).await;
    assert_eq!(routing(&b).await["rules"][1]["weight"], 1, "three attempts are too few");
    run(&b, "2", 3, 0).await;
    assert_eq!(routing(&b).await["rules"][1]["weight"], 1, "half of them have failed, and no more");
    run(&b, "2", 0, 1).await;
    let after = routing(&b).await;
    assert_eq!(after["rules"], json!([{"version": 1, "weight": 3}, {"version": 2, "weight": 0}]));
    let entry = &after["rolled_back"][0];
    assert_eq!((&entry["version"], &entry["attempts"], &entry["failed"]), (&json!(2), &json!(7), &json!(4)));
    assert_eq!((&after["rolled_back"][1], &entry["rolled_back_at"]), (&Value::Null, &json!("2026-01-01T00:00:00.000Z")));
    let jobs = b.try_enqueue(&vec![r#"{"type":"mail","args":[],"options":{"queue":"other"}}"#; 100]).await.unwrap();
    assert!(jobs.iter().all(|job| job.body.text.contains(r#""version":1"#)), "all get the version that is left");
    // More failures say nothing new.
    run(&b, "2", 0, 5).await;
    let (_, events) = b.http("GET", "/events?types=routing.*", "").await;
    let (first, data) = (&events["events"][0], &events["events"][0]["data"]);
    assert_eq!((events["events"].as_array().unwrap().len(), &first["subject"]), (1, &json!("mail")), "{events}");
    assert_eq!((&data["version"], &data["attempts"], &data["failed"]), (&json!(2), &json!(7), &json!(4)));
    // Set anew, they begin anew.
    let anew = put(&b, &half()).await;
    assert_eq!((&anew["rules"][1]["weight"], &anew["rolled_back"]), (&json!(1), &json!([])));
    run(&b, "2", 0, 3).await;
    assert_eq!(routing(&b).await["rules"][1]["weight"], 1);
}

async fn the_version_with_the_largest_weight_is_never_taken_out(b: Bench) {
    put(&b, &half()).await;
    run(&b, "1", 0, 8).await;
    assert_eq!(routing(&b).await["rules"][0]["weight"], 3);
    let alone = json!({"rules": [{"version": 1, "weight": 1}], "auto_rollback": {"error_rate_threshold": 0, "min_attempts": 1}});
    put(&b, &alone).await;
    run(&b, "1", 0, 2).await;
    assert_eq!(routing(&b).await["rules"][0]["weight"], 1, "jobs need a version");
}

async fn failures_of_long_ago_do_not_count(b: Bench) {
    put(&b, &half()).await;
    run(&b, "2", 0, 3).await;
    b.advance(seconds(601)).await;
    run(&b, "2", 0, 3).await;
    assert_eq!(routing(&b).await["rules"][1]["weight"], 1, "three within ten minutes");
    b.advance(seconds(300)).await;
    run(&b, "2", 0, 1).await;
    assert_eq!(routing(&b).await["rules"][1]["weight"], 0, "four within ten minutes");
}

#[tokio::test]
async fn attempts_on_two_nodes_are_counted_together() {
    let b = Bench::postgres().await;
    let other = second_node(&b).await;
    put(&b, &half()).await;
    run(&b, "2", 0, 2).await;
    run(&other, "2", 0, 1).await;
    assert_eq!(routing(&b).await["rules"][1]["weight"], 1);
    run(&other, "2", 0, 1).await;
    for node in [&b, &other] {
        assert_eq!(routing(node).await["rules"][1]["weight"], 0);
    }
}

async fn a_version_that_a_rule_gave_is_compared_with_its_schema(b: Bench) {
    let schema = json!({"job_type": "mail", "version": "2.0", "mode": "strict", "schema": {"minItems": 1}}).to_string();
    assert_eq!(b.http("POST", "/schemas", &schema).await.0, 201);
    let old = json!({"job_type": "mail", "version": "1.0", "mode": "strict", "schema": {}}).to_string();
    assert_eq!(b.http("POST", "/schemas", &old).await.0, 201);
    let plain = r#"{"type":"mail","args":[],"options":{"queue":"q"}}"#;
    for (version, status) in [("2.0", 400), ("1.0", 201)] {
        let rules = json!({"rules": [{"version": version, "weight": 1}]}).to_string();
        b.http("PUT", "/admin/routing/mail", &rules).await;
        assert_eq!(b.http("POST", "/jobs", plain).await.0, status, "{version}");
    }
    // Defaults of the queue and the version are both filled in.
    assert_eq!(b.http("PUT", "/queues/q/config", r#"{"default_timeout":"PT5S"}"#).await.0, 200);
    let (_, answer) = b.http("POST", "/jobs", plain).await;
    assert_eq!((&answer["job"]["version"], &answer["job"]["timeout_ms"]), (&json!("1.0"), &json!(5000)), "{answer}");
}

async fn ei_010_a_step_without_a_version_gets_the_latest_that_is_registered(b: Bench) {
    for version in ["1.0", "2.1"] {
        let schema = json!({"job_type": "mail", "version": version, "schema": {}}).to_string();
        assert_eq!(b.http("POST", "/schemas", &schema).await.0, 201);
    }
    let body = json!({"type": "chain", "name": "c", "steps": [{"type": "mail", "args": [], "options": {"queue": "q"}}]});
    assert_eq!(b.http("POST", "/workflows", &body.to_string()).await.0, 201);
    assert_eq!(claim(&b, "1.0").await, []);
    let job = b.exchange(Vec::new(), Some(runs(&json!([{"type": "mail", "versions": "2.1"}])))).await.1.remove(0);
    assert!(job.body.text.contains(r#""version":"2.1""#), "{}", job.body.text);
}
