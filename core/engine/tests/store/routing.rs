//! Rules that give jobs a version which name none (extensions section 14), and steps of workflows (EI-010).
use serde_json::json;

use crate::nodes::second_node;
use crate::support::Bench;
use crate::versions::{claim, job, runs};

crate::on_every_store!(
    rules_give_a_share_of_the_jobs_a_version,
    what_is_no_rule_is_refused,
    a_version_that_a_rule_gave_is_compared_with_its_schema,
    ei_010_a_step_without_a_version_gets_the_latest_that_is_registered,
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
        (json!({"rules": [{"version": 1, "weight": 1}], "auto_rollback": {"action": "pause"}}), "auto_rollback"),
    ] {
        let (status, answer) = b.http("PUT", "/admin/routing/mail", &body.to_string()).await;
        assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!(field)), "{body}: {answer}");
    }
    assert_eq!(b.http("PUT", "/admin/routing/Mail", r#"{"rules":[{"version":1,"weight":1}]}"#).await.0, 400);
    assert_eq!(b.http("GET", "/admin/routing/mail", "").await.0, 404);
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
