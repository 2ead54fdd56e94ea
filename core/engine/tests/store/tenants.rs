//! Tenants: to whom a job belongs, who sees it, and what a tenant may use.

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use ojs_engine::{Engine, MissingTenant};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Audited, Bench, seconds};

crate::on_every_store!(
    the_tenant_comes_from_the_header_or_from_meta,
    a_tenant_that_is_none_is_refused_and_nothing_is_stored,
    every_job_of_a_batch_belongs_to_the_caller,
    a_worker_of_a_tenant_gets_the_jobs_of_that_tenant_only,
    a_worker_without_a_tenant_gets_the_jobs_of_all,
    lists_show_what_belongs_to_the_caller,
    two_tenants_may_have_jobs_that_are_the_same,
    ei_003_limits_of_a_key_are_those_of_a_tenant,
    steps_and_cron_runs_belong_to_the_tenant_of_their_maker,
    two_tenants_may_use_one_name_for_a_cron_entry,
    a_dead_letter_stays_with_its_tenant,
    events_name_their_tenant_and_are_shown_to_it_alone,
    a_tenant_is_deleted_with_its_ended_jobs,
    statistics_count_what_a_tenant_has,
);

impl Bench {
    /// One request of a tenant: status and body.
    pub async fn of(&self, tenant: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let (status, _, body) = ask(self.engine.router(), &[("X-OJS-Tenant", tenant)], method, path, &body).await;
        (status, body)
    }

    /// A job of a tenant on queue `q`; its id.
    pub async fn job_of(&self, tenant: &str) -> String {
        let (status, body) = self.of(tenant, "POST", "/jobs", job("t", json!([]))).await;
        assert_eq!(status, 201, "{body}");
        body["job"]["id"].as_str().unwrap().to_owned()
    }

    /// Fetches on queue `q`; the jobs.
    pub async fn fetch_of(&self, tenant: Option<&str>, count: u64) -> Vec<Value> {
        let body = json!({"queues": ["q"], "count": count, "worker_id": "w"});
        let (status, answer) = match tenant {
            Some(tenant) => self.of(tenant, "POST", "/workers/fetch", body).await,
            None => self.http("POST", "/workers/fetch", &body.to_string()).await,
        };
        assert_eq!(status, 200, "{answer}");
        answer["jobs"].as_array().unwrap().clone()
    }

    pub async fn ack_of(&self, tenant: &str, job: &Value) {
        let body = json!({"job_id": job["id"], "lease_token": job["lease_token"]});
        let (status, answer) = self.of(tenant, "POST", "/workers/ack", body).await;
        assert_eq!(status, 200, "{answer}");
    }

    pub async fn tenant_stats(&self, tenant: &str) -> Value {
        let (status, body) = self.http("GET", &format!("/admin/tenants/{tenant}/stats"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }
}

/// One request to `/ojs/v1{path}`: status, headers and body.
pub async fn ask(
    router: axum::Router,
    headers: &[(&str, &str)],
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, HeaderMap, Value) {
    let mut request = Request::builder().method(method).uri(format!("/ojs/v1{path}")).header("Content-Type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let response = router.oneshot(request.body(body).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    // A server over a socket breaks off where these differ.
    let length = parts.headers.get("content-length").map(|length| length.to_str().unwrap().to_owned());
    assert!(length.is_none_or(|length| length == bytes.len().to_string()), "{method} {path}");
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap_or(Value::Null) };
    let status = parts.status.as_u16();
    crate::declared::check(method, path, status, &body);
    (status, parts.headers, body)
}

/// An enqueue request on queue `q`.
pub fn job(job_type: &str, args: Value) -> Value {
    json!({"type": job_type, "args": args, "options": {"queue": "q", "retry": {"max_attempts": 1}}})
}

/// The ids of a list of jobs or workflows.
pub fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

async fn the_tenant_comes_from_the_header_or_from_meta(b: Bench) {
    let (status, body) = b.of("acme", "POST", "/jobs", job("t", json!([]))).await;
    assert_eq!((status, &body["job"]["meta"]["tenant_id"]), (201, &json!("acme")), "{body}");
    let id = body["job"]["id"].as_str().unwrap();
    let (_, seen) = b.of("acme", "GET", &format!("/jobs/{id}"), Value::Null).await;
    assert_eq!(seen["job"]["meta"]["tenant_id"], "acme");
    let alias = [("X-OJS-Tenant-Id", "acme")];
    assert_eq!(ask(b.engine.router(), &alias, "GET", &format!("/jobs/{id}"), &Value::Null).await.0, 200);
    // Without a header the job itself says it.
    let mut own = job("t", json!([]));
    own["meta"] = json!({"tenant_id": "blog", "x": 1});
    let (status, body) = b.http("POST", "/jobs", &own.to_string()).await;
    assert_eq!((status, &body["job"]["meta"]["x"]), (201, &json!(1)));
    let id = body["job"]["id"].as_str().unwrap();
    assert_eq!(b.of("blog", "GET", &format!("/jobs/{id}"), Value::Null).await.0, 200);
    assert_eq!(b.of("acme", "GET", &format!("/jobs/{id}"), Value::Null).await.0, 404);
    // The same tenant twice is no contradiction.
    assert_eq!(b.of("blog", "POST", "/jobs", own.clone()).await.0, 201);
    // A job without a tenant belongs to the default one, and carries none.
    let plain = b.job().await;
    assert!(!b.get(plain).await.body.text.contains("tenant_id"));
    assert_eq!(b.of("_default", "GET", &format!("/jobs/{plain}"), Value::Null).await.0, 200);
    assert_eq!(b.of("acme", "GET", &format!("/jobs/{plain}"), Value::Null).await.0, 404);
}

async fn a_tenant_that_is_none_is_refused_and_nothing_is_stored(b: Bench) {
    let with = |meta: Value| {
        let mut wanted = job("t", json!([]));
        wanted["meta"] = meta;
        wanted
    };
    let field = |body: &Value| body["error"]["details"]["field"].as_str().unwrap_or_default().to_owned();
    let (status, body) = b.of("acme", "POST", "/jobs", with(json!({"tenant_id": "blog"}))).await;
    assert_eq!((status, field(&body)), (400, "meta.tenant_id".to_owned()));
    let escaped = r#"{"type":"t","args":[],"meta":{"tenant\u005fid":"blog"}}"#;
    let escaped: Value = serde_json::from_str(escaped).unwrap();
    assert_eq!(b.of("acme", "POST", "/jobs", escaped).await.0, 400);
    for wrong in [json!("a/b"), json!("_acme"), json!(""), json!(7)] {
        let (status, body) = b.http("POST", "/jobs", &with(json!({"tenant_id": wrong})).to_string()).await;
        assert_eq!((status, field(&body)), (400, "meta.tenant_id".to_owned()), "{wrong}");
    }
    let (status, body) = b.of("a b", "POST", "/jobs", job("t", json!([]))).await;
    assert_eq!((status, field(&body)), (400, "X-OJS-Tenant".to_owned()));
    let twice = [("X-OJS-Tenant", "acme"), ("X-OJS-Tenant-ID", "blog")];
    assert_eq!(ask(b.engine.router(), &twice, "POST", "/jobs", &job("t", json!([]))).await.0, 400);
    assert_eq!(b.counts("q").await, [0; 8]);
    assert_eq!(b.http("GET", "/admin/tenants", "").await.1["items"], json!([]));
}

async fn every_job_of_a_batch_belongs_to_the_caller(b: Bench) {
    let jobs = json!({"jobs": [job("t", json!([1])), job("t", json!([2]))]});
    let (status, body) = b.of("acme", "POST", "/jobs/batch", jobs.clone()).await;
    assert_eq!(status, 201, "{body}");
    assert!(body["jobs"].as_array().unwrap().iter().all(|job| job["meta"]["tenant_id"] == "acme"));
    assert_eq!(b.of("acme", "POST", "/jobs/bulk", jobs).await.1["succeeded"], 2);
    let mut mixed = json!({"jobs": [job("t", json!([1])), job("t", json!([2]))]});
    mixed["jobs"][1]["meta"] = json!({"tenant_id": "blog"});
    let (status, body) = b.of("acme", "POST", "/jobs/batch", mixed).await;
    assert_eq!((status, &body["error"]["details"]["index"]), (400, &json!(1)), "{body}");
    assert_eq!(b.tenant_stats("acme").await["total_jobs"], 4);
}

async fn a_worker_of_a_tenant_gets_the_jobs_of_that_tenant_only(b: Bench) {
    let of_blog = b.job_of("blog").await;
    let of_acme = b.job_of("acme").await;
    let plain = b.job().await.to_string();
    let got = b.fetch_of(Some("acme"), 10).await;
    assert_eq!(ids(&json!(got)), [of_acme.as_str()]);
    assert!(b.fetch_of(Some("nobody"), 10).await.is_empty());
    assert_eq!(ids(&json!(b.fetch_of(Some("_default"), 10).await)), [plain.as_str()]);
    // What it holds can be settled, extended and seen by it alone.
    let body = json!({"job_id": of_acme, "lease_token": got[0]["lease_token"]});
    assert_eq!(b.of("blog", "POST", "/workers/ack", body).await.0, 404);
    let beat = json!({"worker_id": "w", "active_jobs": [of_acme], "lease_tokens": {of_acme.clone(): got[0]["lease_token"]}});
    let (_, answer) = b.of("blog", "POST", "/workers/heartbeat", beat.clone()).await;
    assert_eq!(answer["jobs_extended"], json!([]));
    // Nor does a worker of the same name stop it.
    b.of("blog", "POST", "/workers/heartbeat", json!({"worker_id": "w", "state": "quiet"})).await;
    b.job_of("acme").await;
    assert_eq!(b.fetch_of(Some("acme"), 10).await.len(), 1);
    let (_, answer) = b.of("acme", "POST", "/workers/heartbeat", beat).await;
    assert_eq!(answer["jobs_extended"], json!([of_acme]));
    b.ack_of("acme", &got[0]).await;
    // With types as well.
    let typed = json!({"queues": ["q"], "count": 5, "job_types": ["t"]});
    b.of("blog", "POST", "/workers/heartbeat", json!({"worker_id": "w", "state": "running"})).await;
    let (_, answer) = b.of("blog", "POST", "/workers/fetch", typed.clone()).await;
    assert_eq!(ids(&answer["jobs"]), [of_blog.as_str()]);
    assert_eq!(b.of("acme", "POST", "/workers/fetch", typed).await.1["jobs"], json!([]));
}

async fn a_worker_without_a_tenant_gets_the_jobs_of_all(b: Bench) {
    for tenant in ["acme", "blog"] {
        b.job_of(tenant).await;
    }
    b.job().await;
    let jobs = b.fetch_of(None, 10).await;
    assert_eq!(jobs.len(), 3);
    for job in &jobs {
        let body = json!({"job_id": job["id"], "lease_token": job["lease_token"], "result": {"ok": true}});
        assert_eq!(b.http("POST", "/workers/ack", &body.to_string()).await.0, 200);
    }
    assert_eq!(b.tenant_stats("acme").await["jobs"]["completed"], 1);
    assert_eq!(b.tenant_stats("_default").await["jobs"]["completed"], 1);
}

async fn lists_show_what_belongs_to_the_caller(b: Bench) {
    let own = b.job_of("acme").await;
    b.job_of("blog").await;
    b.job().await;
    let (_, page) = b.of("acme", "GET", "/admin/jobs", Value::Null).await;
    assert_eq!((ids(&page["items"]), &page["pagination"]["total"]), (vec![own.as_str()], &json!(1)));
    let (_, page) = b.of("acme", "GET", "/admin/jobs?state=available&queue=q&sort=priority", Value::Null).await;
    assert_eq!(ids(&page["items"]), [own.as_str()]);
    assert_eq!(b.http("GET", "/admin/jobs", "").await.1["pagination"]["total"], 3);
    let (_, page) = b.http("GET", "/admin/tenants/acme/jobs", "").await;
    assert_eq!(ids(&page["items"]), [own.as_str()]);
    let (_, queue) = b.of("acme", "GET", "/queues/q", Value::Null).await;
    assert_eq!((&queue["queue"]["name"], &queue["queue"]["available"]), (&json!("q"), &json!(1)));
    let (_, queue) = b.of("_default", "GET", "/queues/q", Value::Null).await;
    assert_eq!(queue["queue"]["available"], 1);
    let (_, stats) = b.of("acme", "GET", "/queues/q/stats", Value::Null).await;
    assert_eq!((&stats["queue"]["available"], &stats["stats"]["depth"]), (&json!(1), &json!(1)));
    let (_, queues) = b.of("acme", "GET", "/queues", Value::Null).await;
    assert_eq!(queues["pagination"]["total"], 1);
    assert_eq!(b.of("nobody", "GET", "/queues", Value::Null).await.1["pagination"]["total"], 0);
    assert_eq!(b.of("nobody", "GET", "/queues/q", Value::Null).await.0, 404);
    // Bulk operations mean the caller's jobs, whatever they name.
    let (_, done) = b.of("acme", "POST", "/jobs/bulk/cancel", json!({"filter": {"queue": "q"}})).await;
    assert_eq!((&done["total_matched"], &done["cancelled"]), (&json!(1), &json!(1)), "{done}");
    assert_eq!(b.counts("q").await[1], 2);
}

async fn two_tenants_may_have_jobs_that_are_the_same(b: Bench) {
    let mut once = job("t", json!(["x"]));
    once["options"]["unique"] = json!({"keys": ["type", "args"], "on_conflict": "reject"});
    for tenant in ["acme", "blog"] {
        assert_eq!(b.of(tenant, "POST", "/jobs", once.clone()).await.0, 201);
        assert_eq!(b.of(tenant, "POST", "/jobs", once.clone()).await.0, 409);
    }
    assert_eq!(b.http("POST", "/jobs", &once.to_string()).await.0, 201);
    // An id that another tenant has used is taken, and nothing is said of its job.
    let id = b.job_of("acme").await;
    let mut same = job("t", json!([]));
    same["id"] = json!(id);
    let fetched = b.fetch_of(Some("acme"), 10).await;
    assert_eq!(fetched.len(), 2);
    let (status, body) = b.of("blog", "POST", "/jobs", same).await;
    assert_eq!(status, 409);
    assert!(!body.to_string().contains("active"), "{body}");
}

async fn ei_003_limits_of_a_key_are_those_of_a_tenant(b: Bench) {
    let limited = |scope: Option<&str>| {
        let mut wanted = job("t", json!([]));
        wanted["options"]["rate_limit"] = json!({"key": "api:x", "concurrency": 1, "scope": scope});
        wanted
    };
    for tenant in ["acme", "acme", "blog", "blog"] {
        assert_eq!(b.of(tenant, "POST", "/jobs", limited(None)).await.0, 201);
    }
    for tenant in ["acme", "blog"] {
        assert_eq!(b.fetch_of(Some(tenant), 2).await.len(), 1, "{tenant}");
    }
    let (_, shown) = b.http("GET", "/rate-limits/api:x", "").await;
    assert_eq!(shown["partitions"].as_array().unwrap().len(), 2, "{shown}");
    let (_, own) = b.of("acme", "GET", "/rate-limits/api:x", Value::Null).await;
    assert_eq!((&own["tenant_id"], &own["active"], own.get("partitions")), (&json!("acme"), &json!(1), None));
    assert_eq!(b.of("acme", "GET", "/rate-limits", Value::Null).await.1["pagination"]["total"], 1);
    assert_eq!(b.of("nobody", "GET", "/rate-limits/api:x", Value::Null).await.0, 404);
    // EI-R006: global is for all tenants together, and another word is refused.
    let global = |n: u64| {
        let mut wanted = limited(Some("global"));
        wanted["options"]["rate_limit"]["key"] = json!("api:y");
        wanted["options"]["queue"] = json!("g");
        wanted["args"] = json!([n]);
        wanted
    };
    assert_eq!(b.of("acme", "POST", "/jobs", global(1)).await.0, 201);
    let (_, stored) = b.of("blog", "POST", "/jobs", global(2)).await;
    assert_eq!(stored["job"]["rate_limit"]["scope"], "global", "{stored}");
    let fetch = json!({"queues": ["g"], "count": 2});
    let (_, first) = b.of("acme", "POST", "/workers/fetch", fetch.clone()).await;
    assert_eq!(first["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(b.of("blog", "POST", "/workers/fetch", fetch.clone()).await.1["jobs"], json!([]));
    b.ack_of("acme", &first["jobs"][0]).await;
    assert_eq!(b.of("blog", "POST", "/workers/fetch", fetch).await.1["jobs"].as_array().unwrap().len(), 1);
    assert!([400, 422].contains(&b.of("acme", "POST", "/jobs", limited(Some("galaxy"))).await.0));
}

async fn steps_and_cron_runs_belong_to_the_tenant_of_their_maker(b: Bench) {
    let flow = json!({"type": "chain", "name": "f", "steps": [job("t.one", json!([])), job("t.two", json!([]))]});
    let (status, made) = b.of("acme", "POST", "/workflows", flow.clone()).await;
    assert_eq!(status, 201, "{made}");
    let flow_id = made["workflow"]["id"].as_str().unwrap().to_owned();
    for job_type in ["t.one", "t.two"] {
        assert!(b.fetch_of(Some("blog"), 5).await.is_empty());
        let jobs = b.fetch_of(Some("acme"), 5).await;
        assert_eq!((jobs.len(), &jobs[0]["type"], &jobs[0]["meta"]["tenant_id"]), (1, &json!(job_type), &json!("acme")));
        b.ack_of("acme", &jobs[0]).await;
    }
    assert_eq!(b.of("acme", "GET", &format!("/workflows/{flow_id}"), Value::Null).await.1["workflow"]["state"], "completed");
    assert_eq!(b.of("blog", "GET", &format!("/workflows/{flow_id}"), Value::Null).await.0, 404);
    assert_eq!(b.of("blog", "GET", "/admin/workflows", Value::Null).await.1["items"], json!([]));
    assert_eq!(ids(&b.of("acme", "GET", "/admin/workflows", Value::Null).await.1["items"]), [flow_id.as_str()]);
    // A step of another tenant refuses the workflow, and nothing of it is stored.
    let mut foreign = flow.clone();
    foreign["steps"][1]["meta"] = json!({"tenant_id": "blog"});
    assert_eq!(b.of("acme", "POST", "/workflows", foreign.clone()).await.0, 400);
    let mut mixed = foreign;
    mixed["steps"][0]["meta"] = json!({"tenant_id": "acme"});
    assert_eq!(b.http("POST", "/workflows", &mixed.to_string()).await.0, 400);
    assert!(b.fetch_of(None, 5).await.is_empty());
    let template = json!({"type": "tick", "args": [], "options": {"queue": "q"}});
    let entry = json!({"name": "tick", "expression": "* * * * *", "job_template": template});
    assert_eq!(b.of("acme", "POST", "/cron", entry).await.0, 201);
    b.advance(seconds(60)).await;
    let jobs = b.fetch_of(Some("acme"), 5).await;
    assert_eq!(jobs.len(), 1);
    assert_eq!((&jobs[0]["meta"]["tenant_id"], &jobs[0]["meta"]["cron_name"]), (&json!("acme"), &json!("tick")));
}

async fn two_tenants_may_use_one_name_for_a_cron_entry(b: Bench) {
    let entry = |job_type: &str| {
        let template = json!({"type": job_type, "args": [], "options": {"queue": "q"}});
        json!({"name": "tick", "expression": "0 0 1 1 *", "job_template": template})
    };
    for (tenant, job_type) in [("acme", "of.acme"), ("blog", "of.blog")] {
        let (status, made) = b.of(tenant, "POST", "/cron", entry(job_type)).await;
        assert_eq!((status, &made["cron"]["name"]), (201, &json!("tick")));
    }
    assert_eq!(b.http("POST", "/cron", &entry("of.all").to_string()).await.0, 201);
    let (_, shown) = b.of("blog", "GET", "/cron/tick", Value::Null).await;
    assert_eq!(shown["cron"]["type"], "of.blog");
    assert_eq!(b.of("acme", "GET", "/cron", Value::Null).await.1["count"], 1);
    let (_, all) = b.http("GET", "/cron", "").await;
    let names: Vec<&str> = all["crons"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["acme/tick", "blog/tick", "tick"]);
    assert_eq!(b.of("_default", "GET", "/cron/tick", Value::Null).await.1["cron"]["type"], "of.all");
    assert_eq!(b.of("_default", "GET", "/cron/acme%2Ftick", Value::Null).await.0, 404);
    assert_eq!(b.of("acme", "DELETE", "/cron/tick", Value::Null).await.0, 200);
    assert_eq!(b.of("acme", "DELETE", "/cron/tick", Value::Null).await.0, 404);
    assert_eq!(b.of("blog", "GET", "/cron/tick", Value::Null).await.0, 200);
}

async fn a_dead_letter_stays_with_its_tenant(b: Bench) {
    let mut dead = Vec::new();
    for tenant in ["acme", "blog"] {
        let mut wanted = job("t", json!([]));
        wanted["options"]["retry"] = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
        b.of(tenant, "POST", "/jobs", wanted).await;
        let held = b.fetch_of(Some(tenant), 1).await.remove(0);
        let error = json!({"code": "x", "type": format!("E.{tenant}"), "message": tenant, "retryable": false});
        let body = json!({"job_id": held["id"], "lease_token": held["lease_token"], "error": error});
        assert_eq!(b.of(tenant, "POST", "/workers/nack", body).await.0, 200);
        dead.push(held["id"].as_str().unwrap().to_owned());
    }
    // EI-004: without a filter a tenant sees its own, in lists and in counts.
    for path in ["/dead-letter", "/admin/dead-letter"] {
        let (_, page) = b.of("acme", "GET", path, Value::Null).await;
        let text = page.to_string();
        assert!(text.contains(&dead[0]) && !text.contains(&dead[1]) && !text.contains("blog"), "{page}");
        let (_, stats) = b.of("acme", "GET", &format!("{path}/stats"), Value::Null).await;
        assert_eq!((&stats["total"], &stats["by_error_type"]), (&json!(1), &json!({"E.acme": 1})), "{stats}");
    }
    assert_eq!(b.http("GET", "/dead-letter/stats", "").await.1["total"], 2);
    // EI-005: nor can it run or delete those of another one, one by one or all together.
    assert_eq!(b.of("acme", "POST", &format!("/dead-letter/{}/retry", dead[1]), json!({})).await.0, 404);
    assert_eq!(b.of("acme", "DELETE", &format!("/dead-letter/{}", dead[1]), Value::Null).await.0, 404);
    let (_, done) = b.of("acme", "POST", "/dead-letter/retry", json!({"confirm": true})).await;
    assert_eq!(done["job_ids"], json!([dead[0]]));
    // EI-R003: a replayed job starts afresh, and still belongs to its tenant.
    let again = b.fetch_of(Some("acme"), 1).await.remove(0);
    assert_eq!((&again["attempt"], &again["meta"]["tenant_id"]), (&json!(1), &json!("acme")));
    let body = json!({"override": {"meta": {"tenant_id": "acme"}}});
    let (status, answer) = b.of("blog", "POST", &format!("/dead-letter/{}/retry", dead[1]), body).await;
    assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!("meta.tenant_id")), "{answer}");
    assert_eq!(b.of("blog", "DELETE", "/dead-letter?confirm=true", Value::Null).await.1["deleted"], 1);
}

async fn events_name_their_tenant_and_are_shown_to_it_alone(b: Bench) {
    let own = b.job_of("acme").await;
    b.job_of("blog").await;
    b.job().await;
    let (_, page) = b.of("acme", "GET", "/events", Value::Null).await;
    let events = page["events"].as_array().unwrap();
    assert!(events.iter().all(|event| event["data"]["tenant_id"] == "acme"), "{page}");
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(names, ["tenant.created", "job.enqueued"]);
    assert_eq!(events[1]["subject"].as_str(), Some(own.as_str()));
    let (_, page) = b.of("_default", "GET", "/events", Value::Null).await;
    assert_eq!(page["events"].as_array().unwrap().len(), 1);
    assert_eq!(b.of("acme", "GET", "/events?newest=true", Value::Null).await.1["events"].as_array().unwrap().len(), 2);
    // A stream, too: what it shows up to an event of its own has nothing of others.
    let request = Request::builder().uri("/ojs/v1/events/stream?since=2020-01-01T00:00:00Z").header("X-OJS-Tenant", "acme");
    let response = b.engine.router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let mut body = response.into_body();
    b.job_of("blog").await;
    let last = b.job_of("acme").await;
    let mut read = String::new();
    while !read.contains(&last) {
        let frame = body.frame().await.unwrap().unwrap();
        read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    assert!(read.contains(&own) && !read.contains("blog"), "{read}");
}

async fn a_tenant_is_deleted_with_its_ended_jobs(b: Bench) {
    b.job_of("acme").await;
    let (status, body) = b.http("DELETE", "/admin/tenants/acme", "").await;
    assert_eq!((status, &body["error"]["details"]["jobs"]), (409, &json!(1)));
    let held = b.fetch_of(Some("acme"), 1).await.remove(0);
    b.ack_of("acme", &held).await;
    assert_eq!(b.http("DELETE", "/admin/tenants/acme", "").await.0, 200);
    assert_eq!(b.http("GET", "/admin/tenants/acme", "").await.0, 404);
    assert_eq!(b.http("DELETE", "/admin/tenants/acme", "").await.0, 404);
    let gone = held["id"].as_str().unwrap();
    assert_eq!(b.http("GET", &format!("/jobs/{gone}"), "").await.0, 404);
    assert_eq!(b.counts("q").await, [0; 8]);
    // Its events are not those of the default tenant.
    assert_eq!(b.of("_default", "GET", "/events", Value::Null).await.1["events"], json!([]));
    // The next job makes it anew.
    b.job_of("acme").await;
    assert_eq!(b.tenant_stats("acme").await["total_jobs"], 1);
}

async fn statistics_count_what_a_tenant_has(b: Bench) {
    b.job_of("acme").await;
    b.job_of("acme").await;
    let held = b.fetch_of(Some("acme"), 1).await.remove(0);
    b.ack_of("acme", &held).await;
    let stats = b.tenant_stats("acme").await;
    assert_eq!((&stats["tenant_id"], &stats["total_jobs"]), (&json!("acme"), &json!(2)));
    assert_eq!(
        (&stats["jobs"]["available"], &stats["jobs"]["completed"], &stats["queue_depth"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!((&stats["throughput"]["enqueued_total"], &stats["throughput"]["processed_total"]), (&json!(2), &json!(1)));
    assert_eq!(stats["queues"][0]["name"], "q");
    let (_, list) = b.http("GET", "/admin/tenants?per_page=1", "").await;
    assert_eq!((&list["items"][0]["id"], &list["pagination"]["total"]), (&json!("acme"), &json!(1)));
    assert_eq!(b.http("GET", "/admin/tenants/nobody/stats", "").await.0, 404);
}

#[tokio::test]
async fn a_server_may_want_a_tenant_of_each_job() {
    let b = Bench::memory().await;
    let options = ojs_engine::EngineOptions { missing_tenant: MissingTenant::Reject, ..b.engine.options().clone() };
    let engine = Engine::open(options).await.unwrap();
    let _audited = Audited::of(&engine);
    let (status, _, body) = ask(engine.router(), &[], "POST", "/jobs", &job("t", json!([]))).await;
    assert_eq!((status, &body["error"]["details"]["field"]), (422, &json!("meta.tenant_id")), "{body}");
    for headers in [[("X-OJS-Tenant", "acme")], [("X-OJS-Tenant", "_default")]] {
        assert_eq!(ask(engine.router(), &headers, "POST", "/jobs", &job("t", json!([]))).await.0, 201);
    }
    let mut own = job("t", json!([]));
    own["meta"] = json!({"tenant_id": "acme"});
    assert_eq!(ask(engine.router(), &[], "POST", "/jobs", &own).await.0, 201);
    // By the other ways as well.
    let flow = |step: &Value| json!({"type": "chain", "steps": [step]});
    let entry = |template: &Value| json!({"name": "c", "expression": "0 0 1 1 *", "job_template": template});
    for (path, body) in [("/workflows", flow(&job("t", json!([])))), ("/cron", entry(&job("t", json!([]))))] {
        assert_eq!(ask(engine.router(), &[], "POST", path, &body).await.0, 422, "{path}");
    }
    for (path, body) in [("/workflows", flow(&own)), ("/cron", entry(&own))] {
        assert_eq!(ask(engine.router(), &[], "POST", path, &body).await.0, 201, "{path}");
    }
}
