//! Dead letters of tenants.
use serde_json::{Value, json};

use super::world::{World, ids, job, retry};

crate::on_every_store!(ei_004_dead_letters_are_listed_for_their_tenant, ei_005_dead_letters_are_changed_by_their_tenant);

/// A dead letter of each tenant; their ids.
async fn dead(w: &World) -> [String; 2] {
    let mut dead = Vec::new();
    for tenant in ["a", "b"] {
        let policy = retry(1, 50, json!({"on_exhaustion": "dead_letter"}));
        dead.push(w.enqueue(Some(tenant), job(json!({"retry": policy}))).await);
        let held = w.fetch(Some(tenant), 1).await;
        w.nack(&held[0], json!({"code": "x", "type": format!("E.{tenant}"), "message": tenant})).await;
    }
    dead.try_into().unwrap()
}

async fn ei_004_dead_letters_are_listed_for_their_tenant(w: &World) {
    let [own, foreign] = dead(w).await;
    for path in ["/dead-letter", "/admin/dead-letter", "/admin/jobs?state=discarded"] {
        let (status, page) = w.of("a", "GET", path, Value::Null).await;
        let text = page.to_string();
        assert!(status == 200 && text.contains(&own), "{path}: {page}");
        assert!(!text.contains(&foreign) && !text.contains("E.b"), "{path}: {page}");
    }
    for path in ["/dead-letter/stats", "/admin/dead-letter/stats"] {
        let (_, stats) = w.of("a", "GET", path, Value::Null).await;
        assert_eq!((&stats["total"], &stats["by_error_type"]), (&json!(1), &json!({"E.a": 1})), "{path}: {stats}");
    }
    // A filter that names another tenant opens nothing.
    for path in
        ["/dead-letter?tenant=b", "/dead-letter?tenant_id=b", "/admin/dead-letter?tenant=b", "/admin/dead-letter?tenant_id=b"]
    {
        let (_, page) = w.of("a", "GET", path, Value::Null).await;
        assert!(!page.to_string().contains(&foreign), "{path}: {page}");
    }
    // A consumer of the events of all tenants can tell them apart.
    let events = w.events("job.dead_lettered").await;
    let told: Vec<_> = events.iter().map(|event| (&event["subject"], &event["data"]["tenant_id"])).collect();
    assert_eq!(told, [(&json!(own), &json!("a")), (&json!(foreign), &json!("b"))]);
}

async fn ei_005_dead_letters_are_changed_by_their_tenant(w: &World) {
    let [own, foreign] = dead(w).await;
    let before = w.read(&format!("/jobs/{foreign}")).await;
    let one = format!("/dead-letter/{foreign}");
    for (method, path) in [("GET", one.clone()), ("POST", format!("{one}/retry")), ("DELETE", one)] {
        let (status, body) = w.of("a", method, &path, json!({})).await;
        assert_eq!((status, &body["error"]["code"]), (404, &json!("not_found")), "{method} {path}: {body}");
    }
    let (_, retried) = w.of("a", "POST", "/dead-letter/retry", json!({"confirm": true})).await;
    assert_eq!(retried["job_ids"], json!([own]), "{retried}");
    let (_, purged) = w.of("a", "DELETE", "/dead-letter?confirm=true", Value::Null).await;
    assert_eq!(purged["deleted"], 0, "{purged}");
    assert_eq!(w.read(&format!("/jobs/{foreign}")).await, before, "unchanged");
    // An operator of all tenants may act on both.
    w.nack(&w.fetch(Some("a"), 1).await[0], json!({"code": "x", "message": "m"})).await;
    let page = w.read("/dead-letter").await;
    assert_eq!(ids(page["jobs"].as_array().unwrap()).len(), 2);
    let (status, _) = w.http("POST", &format!("/dead-letter/{foreign}/retry"), json!({})).await;
    assert_eq!((status, w.state(&foreign).await.as_str()), (200, "available"));
    let (_, purged) = w.http("DELETE", "/dead-letter?confirm=true", Value::Null).await;
    assert_eq!(purged["deleted"], 1);
}
