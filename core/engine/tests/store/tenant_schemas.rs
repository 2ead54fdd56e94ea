//! Schemas of tenants: which schema a job is compared with, and who sees and changes it.
use serde_json::{Value, json};

use crate::support::Bench;
use crate::tenants::ask;

crate::on_every_store!(
    a_tenants_own_versions_stand_in_place_of_the_shared_ones,
    a_job_names_a_schema_of_its_tenant_or_a_shared_one,
    a_tenant_does_not_change_what_all_share,
    jobs_that_no_enqueue_brings_are_compared_with_the_schema_of_their_tenant,
    a_step_gets_the_latest_version_of_its_tenant,
    a_tenant_has_a_bounded_number_of_schemas,
    schemas_of_tenants_are_there_after_a_restart,
);

/// The one argument is of this type.
fn one(kind: &str) -> Value {
    json!({"prefixItems": [{"type": kind}], "minItems": 1})
}

async fn register(b: &Bench, tenant: Option<&str>, version: &str, schema: Value) -> (u16, Value) {
    let body = json!({"job_type": "pay", "version": version, "schema": schema, "mode": "strict"});
    let headers: Vec<(&str, &str)> = tenant.map(|tenant| ("X-OJS-Tenant", tenant)).into_iter().collect();
    let (status, _, answer) = ask(b.engine.router(), &headers, "POST", "/schemas", &body).await;
    (status, answer)
}

async fn registered(b: &Bench, tenant: Option<&str>, version: &str, schema: Value) {
    let (status, answer) = register(b, tenant, version, schema).await;
    assert_eq!((status, answer["schema"]["tenant_id"].as_str()), (201, tenant), "{answer}");
    assert_eq!(answer["schema"]["job_type"], "pay", "{answer}");
}

fn pay(argument: Value) -> Value {
    json!({"type": "pay", "args": [argument], "options": {"queue": "q"}})
}

async fn a_tenants_own_versions_stand_in_place_of_the_shared_ones(b: Bench) {
    registered(&b, None, "2.0.0", one("integer")).await;
    // The same type and version, and a URI of the same text.
    registered(&b, Some("acme"), "2.0.0", one("string")).await;
    for (tenant, argument, status) in [
        ("acme", json!("x"), 201),
        ("acme", json!(1), 400),
        ("blog", json!(1), 201),
        ("blog", json!("x"), 400),
        ("_default", json!("x"), 400),
    ] {
        let (answered, body) = b.of(tenant, "POST", "/jobs", pay(argument)).await;
        assert_eq!(answered, status, "{tenant}: {body}");
        assert!(!body.to_string().contains("acme/pay"), "{body}");
    }
    // A job whose tenant is named by its meta alone.
    let mut named = pay(json!("x"));
    named["meta"] = json!({"tenant_id": "acme"});
    assert_eq!(b.http("POST", "/jobs", &named.to_string()).await.0, 201);
    assert_eq!(b.http("POST", "/jobs", &pay(json!("x")).to_string()).await.0, 400);
    // A batch of an operator may hold jobs of several tenants: each is compared with its own schema.
    let batch = json!({"jobs": [named, pay(json!(1))]});
    assert_eq!(b.http("POST", "/jobs/batch", &batch.to_string()).await.0, 201);
    // A tenant sees the schemas that its jobs are compared with; an operator sees all.
    let seen = async |tenant: &str| b.of(tenant, "GET", "/schemas/pay", Value::Null).await.1["schema"]["schema"].clone();
    assert_eq!((seen("acme").await, seen("blog").await), (one("string"), one("integer")));
    let count = |list: &Value| list["schemas"].as_array().unwrap().len();
    for tenant in ["acme", "blog"] {
        assert_eq!(count(&b.of(tenant, "GET", "/schemas", Value::Null).await.1), 1, "{tenant}");
    }
    let (_, all) = b.http("GET", "/schemas", "").await;
    assert_eq!((count(&all), &all["pagination"]["total"]), (2, &json!(2)));
    assert_eq!((b.http("GET", "/schemas/pay", "").await.1)["schema"]["schema"], one("integer"));
    // The latest version of the shared ones does not count beside versions of the tenant.
    registered(&b, None, "3.0.0", one("boolean")).await;
    assert_eq!(b.of("acme", "POST", "/jobs", pay(json!("x"))).await.0, 201);
    assert_eq!(b.of("acme", "GET", "/schemas/pay/3.0.0", Value::Null).await.0, 404);
    // Without versions of its own, the shared ones hold again.
    assert_eq!(b.of("acme", "DELETE", "/schemas/pay/2.0.0", Value::Null).await.0, 200);
    assert_eq!(b.of("acme", "POST", "/jobs", pay(json!("x"))).await.0, 400);
    assert_eq!(b.of("acme", "POST", "/jobs", pay(json!(true))).await.0, 201);
}

async fn a_job_names_a_schema_of_its_tenant_or_a_shared_one(b: Bench) {
    let uri = |job: Value, uri: &str| {
        let mut job = job;
        job["schema"] = json!(uri);
        job
    };
    registered(&b, None, "1.0.0", one("integer")).await;
    registered(&b, Some("acme"), "2.0.0", one("string")).await;
    registered(&b, Some("acme"), "3.0.0", one("boolean")).await;
    for (tenant, version, argument, status) in [
        ("acme", "2.0.0", json!("x"), 201),
        ("acme", "2.0.0", json!(true), 400),
        ("acme", "1.0.0", json!(5), 201),
        // Another tenant's URI names nothing, so the latest of the type holds.
        ("blog", "2.0.0", json!("x"), 400),
        ("blog", "2.0.0", json!(5), 201),
    ] {
        let job = uri(pay(argument), &format!("urn:ojs:schema:pay:v{version}"));
        let (answered, body) = b.of(tenant, "POST", "/jobs", job).await;
        assert_eq!(answered, status, "{tenant} {version}: {body}");
    }
}

async fn a_tenant_does_not_change_what_all_share(b: Bench) {
    registered(&b, None, "1.0.0", one("integer")).await;
    let uri = "/schemas/urn%3Aojs%3Aschema%3Apay%3Av1.0.0";
    for tenant in ["acme", "_default"] {
        for (method, path, body) in [
            ("PATCH", "/schemas/pay/1.0.0", json!({"mode": "off"})),
            ("DELETE", "/schemas/pay/1.0.0", Value::Null),
            ("DELETE", "/admin/schemas/pay/1.0.0", Value::Null),
            ("DELETE", uri, Value::Null),
        ] {
            let (status, answer) = b.of(tenant, method, path, body).await;
            assert_eq!((status, &answer["error"]["details"]["reason"]), (403, &json!("operators_only")), "{method} {path}");
        }
        assert_eq!(b.of(tenant, "GET", "/schemas/pay/1.0.0", Value::Null).await.0, 200, "it may read it");
    }
    // Jobs without a tenant are compared with the shared schemas, which operators register.
    assert_eq!(register(&b, Some("_default"), "2.0.0", json!({})).await.0, 403);
    assert_eq!(b.http("GET", "/schemas/pay", "").await.1["schema"]["mode"], "strict");
    // The tenant may change its own versions.
    registered(&b, Some("acme"), "1.0.0", one("string")).await;
    assert_eq!(b.of("acme", "PATCH", "/schemas/pay/1.0.0", json!({"mode": "off"})).await.1["schema"]["mode"], "off");
    assert_eq!(b.of("acme", "POST", "/jobs", pay(json!(1))).await.0, 201);
    assert_eq!(b.of("blog", "POST", "/jobs", pay(json!("x"))).await.0, 400);
    assert_eq!(register(&b, Some("acme"), "1.0.0", one("string")).await.0, 409);
}

async fn jobs_that_no_enqueue_brings_are_compared_with_the_schema_of_their_tenant(b: Bench) {
    registered(&b, Some("acme"), "1.0.0", one("string")).await;
    let flow = |argument: Value| json!({"type": "chain", "steps": [pay(argument)]});
    let entry = |argument: Value| json!({"name": "c", "expression": "0 0 1 1 *", "job_template": pay(argument)});
    for (path, wrong, right) in [("/workflows", flow(json!(1)), flow(json!("x"))), ("/cron", entry(json!(1)), entry(json!("x")))]
    {
        let (status, body) = b.of("acme", "POST", path, wrong.clone()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!("schema_validation")), "{path}: {body}");
        assert_eq!(b.of("acme", "POST", path, right).await.0, 201, "{path}");
        assert_eq!(b.of("blog", "POST", path, wrong).await.0, 201, "{path}");
    }
}

async fn a_step_gets_the_latest_version_of_its_tenant(b: Bench) {
    registered(&b, None, "4.0.0", json!({})).await;
    registered(&b, Some("acme"), "2.0.0", json!({})).await;
    for (tenant, version) in [("acme", "2.0.0"), ("blog", "4.0.0")] {
        let flow = json!({"type": "chain", "steps": [pay(json!(1))]});
        assert_eq!(b.of(tenant, "POST", "/workflows", flow).await.0, 201);
        let job = b.fetch_of(Some(tenant), 1).await.remove(0);
        assert_eq!(job["version"], version, "{tenant}: {job}");
    }
}

async fn a_tenant_has_a_bounded_number_of_schemas(b: Bench) {
    for major in 0..100 {
        assert_eq!(register(&b, Some("acme"), &major.to_string(), json!({})).await.0, 201, "{major}");
    }
    let (status, body) = register(&b, Some("acme"), "100", json!({})).await;
    let details = &body["error"]["details"];
    assert_eq!((status, &details["reason"], &details["max_schemas"]), (409, &json!("too_many_schemas"), &json!(100)), "{body}");
    for tenant in [Some("blog"), None] {
        assert_eq!(register(&b, tenant, "100", json!({})).await.0, 201, "others are not concerned");
    }
}

async fn schemas_of_tenants_are_there_after_a_restart(b: Bench) {
    if b.engine.options().store.to_string() == "memory:" {
        return;
    }
    registered(&b, None, "1.0.0", one("integer")).await;
    registered(&b, Some("acme"), "1.0.0", one("string")).await;
    let b = b.reopened().await;
    for (tenant, status) in [("acme", 201), ("blog", 400)] {
        assert_eq!(b.of(tenant, "POST", "/jobs", pay(json!("x"))).await.0, status, "{tenant}");
    }
}
