//! Sessions of browsers: a cookie stands for a key, as long as the key does.
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use ojs_engine::access::{Access, KeyFile, Role};
use ojs_model::Timestamp;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::streams::Listener;
use crate::support::Bench;

crate::on_every_store!(
    a_cookie_stands_for_its_key,
    a_session_ends_after_twelve_hours_and_not_later_by_use,
    a_session_ends_with_its_key_and_with_its_roles,
    signing_out_ends_the_session_everywhere,
    streams_end_with_their_session,
    only_a_page_of_the_server_changes_anything_with_a_cookie,
    a_session_of_a_tenant_sees_that_tenant,
    a_key_has_a_bounded_number_of_sessions,
    sessions_outlive_a_restart_and_are_pruned,
);

const OWN_PAGE: (&str, &str) = ("sec-fetch-site", "same-origin");

struct Browser {
    router: axum::Router,
    access: Arc<Access>,
    path: PathBuf,
    keys: Vec<String>,
}

/// An answer: status, the cookie that it sets, body.
type Answer = (u16, Option<String>, Value);

impl Browser {
    fn of(b: &Bench, keys: &[(&str, Role)]) -> Self {
        let path = b.dir.path().join("keys.json");
        let mut file = KeyFile::default();
        let keys = keys.iter().map(|(name, role)| file.add(name, vec![*role], Timestamp::from_millis(0)).unwrap()).collect();
        file.write(&path).unwrap();
        let access = Arc::new(Access::open(&path).unwrap());
        Self { router: b.engine.guarded_router(Arc::clone(&access)), access, path, keys }
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(format!("/ojs/v1{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.router.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let cookie = response.headers().get("set-cookie").map(|value| value.to_str().unwrap().to_owned());
        if response.headers()["content-type"] == "text/event-stream" {
            return (status, cookie, Value::Null);
        }
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        crate::declared::check(method, path, status, &body);
        (status, cookie, body)
    }

    /// Signs in; returns what the browser sends from then on.
    async fn sign_in(&self, key: usize) -> String {
        let (status, cookie, _) = self.ask("POST", "/session", &[("authorization", &self.bearer(key))], "").await;
        assert_eq!(status, 204);
        let cookie = cookie.unwrap();
        assert!(cookie.ends_with("; Max-Age=43200; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }

    fn bearer(&self, key: usize) -> String {
        format!("Bearer {}", self.keys[key])
    }

    async fn about(&self, cookie: &str) -> (u16, Value) {
        let (status, _, body) = self.ask("GET", "/session", &[("cookie", cookie)], "").await;
        (status, body)
    }
}

async fn a_cookie_stands_for_its_key(b: Bench) {
    let browser = Browser::of(&b, &[("ann", Role::Viewer), ("boss", Role::Admin)]);
    assert_eq!(browser.ask("GET", "/session", &[], "").await.0, 401);
    assert_eq!(browser.ask("POST", "/session", &[("authorization", "Bearer ojs_wrong")], "").await.0, 401);
    let (ann, boss) = (browser.sign_in(0).await, browser.sign_in(1).await);
    let (status, about) = browser.about(&ann).await;
    assert_eq!(
        (status, &about),
        (
            200,
            &json!({
                "role": "viewer", "roles": ["viewer"], "permissions": ["open", "read", "inspect"], "tenant": null,
                "name": "ann", "expires_at": "2026-01-01T12:00:00.000Z",
            })
        )
    );
    assert_eq!(browser.about(&boss).await.1["role"], "admin");
    for path in ["/admin/jobs", "/events/stream"] {
        assert_eq!(browser.ask("GET", path, &[("cookie", &ann)], "").await.0, 200, "{path}");
    }
    let pause = async |headers: &[(&str, &str)]| browser.ask("POST", "/admin/queues/q/pause", headers, "").await.0;
    assert_eq!(pause(&[("cookie", &ann), OWN_PAGE]).await, 403, "a viewer");
    b.job().await;
    assert_eq!(pause(&[("cookie", &boss), OWN_PAGE]).await, 200);
    // With a key there is no cookie to be misused, and the key counts, not the cookie.
    assert_eq!(pause(&[("cookie", &ann), ("authorization", &browser.bearer(1))]).await, 200);
    let (_, _, about) = browser.ask("GET", "/session", &[("authorization", &browser.bearer(1))], "").await;
    assert_eq!((&about["name"], &about["expires_at"]), (&json!("boss"), &Value::Null));
    for wrong in ["ojs_session=", "ojs_session=x", "other=1"] {
        assert_eq!(browser.about(wrong).await.0, 401, "{wrong}");
    }
}

async fn a_session_ends_after_twelve_hours_and_not_later_by_use(b: Bench) {
    let browser = Browser::of(&b, &[("ann", Role::Admin)]);
    let ann = browser.sign_in(0).await;
    b.clock.advance(Duration::from_secs(12 * 3600 - 1));
    assert_eq!(browser.about(&ann).await.0, 200);
    let (status, cookie, body) = browser.ask("POST", "/session", &[("cookie", &ann), OWN_PAGE], "").await;
    assert_eq!((status, cookie, &body["error"]["code"]), (401, None, &json!("unauthenticated")), "a session makes no session");
    b.clock.advance(Duration::from_secs(1));
    let (status, body) = browser.about(&ann).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("unauthenticated")));
    assert!(body["error"]["hint"].as_str().unwrap().contains("POST /ojs/v1/session"), "{body}");
}

async fn a_session_ends_with_its_key_and_with_its_roles(b: Bench) {
    let browser = Browser::of(&b, &[("ann", Role::Admin), ("bob", Role::Admin)]);
    let (ann, bob) = (browser.sign_in(0).await, browser.sign_in(1).await);
    KeyFile::change(&browser.path, false, |file| {
        file.keys[1].roles = vec![Role::Viewer];
        file.revoke("ann")
    })
    .unwrap();
    browser.access.reload().unwrap();
    assert_eq!(browser.about(&ann).await.0, 401);
    assert_eq!(browser.about(&bob).await.1["role"], "viewer", "what the key allows now");
    KeyFile::change(&browser.path, false, |file| file.add("ann", vec![Role::Admin], Timestamp::from_millis(0))).unwrap();
    browser.access.reload().unwrap();
    assert_eq!(browser.about(&ann).await.0, 401, "another key of the same name");
}

async fn signing_out_ends_the_session_everywhere(b: Bench) {
    let browser = Browser::of(&b, &[("ann", Role::Viewer)]);
    let (here, there) = (browser.sign_in(0).await, browser.sign_in(0).await);
    let (status, cookie, _) = browser.ask("DELETE", "/session", &[("cookie", &here), OWN_PAGE], "").await;
    assert_eq!(status, 204);
    assert!(cookie.unwrap().starts_with("ojs_session=; Max-Age=0; Path=/"));
    assert_eq!(browser.about(&here).await.0, 401, "a copy of the cookie is worth nothing");
    assert_eq!(browser.about(&there).await.0, 200, "another browser of the same person");
}

async fn streams_end_with_their_session(b: Bench) {
    let browser = Browser::of(&b, &[("ann", Role::Viewer)]);
    let id = b.job().await;
    let open = async |cookie: &str, path: &str| {
        let request = Request::get(format!("/ojs/v1/{path}")).header("cookie", cookie).body(Body::empty()).unwrap();
        let response = browser.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let mut stream = Listener::of(response.into_body());
        assert!(stream.block().await.unwrap().starts_with("retry:"));
        stream
    };
    let (oldest, here) = (browser.sign_in(0).await, browser.sign_in(0).await);
    b.clock.advance(Duration::from_millis(1));
    let there = browser.sign_in(0).await;
    let mut ending = Vec::new();
    for path in ["events/stream", "queues/q/events", &format!("jobs/{id}/result/stream")] {
        ending.push(open(&here, path).await);
    }
    let mut going_on = open(&there, "events/stream").await;
    let mut of_oldest = open(&oldest, "queues/q/events").await;
    assert_eq!(browser.ask("DELETE", "/session", &[("cookie", &here), OWN_PAGE], "").await.0, 204);
    for stream in &mut ending {
        assert_eq!(stream.next().await, None, "it ends without another event");
    }
    // A session that makes room for another one is over as well.
    for _ in 0..99 {
        b.clock.advance(Duration::from_millis(1));
        browser.sign_in(0).await;
    }
    assert_eq!(of_oldest.next().await, None);
    assert_eq!(browser.about(&oldest).await.0, 401);
    b.job().await;
    assert!(going_on.next().await.is_some(), "another session of the same key");
}

async fn only_a_page_of_the_server_changes_anything_with_a_cookie(b: Bench) {
    let browser = Browser::of(&b, &[("boss", Role::Admin)]);
    let boss = browser.sign_in(0).await;
    let job = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
    let cookie = ("cookie", boss.as_str());
    let host = ("host", "127.0.0.1:8080");
    for foreign in [
        &[][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:9090")],
        &[("sec-fetch-site", "none")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ] {
        let headers = [&[cookie, host], foreign].concat();
        for (method, path) in [("POST", "/jobs"), ("DELETE", "/session"), ("POST", "/session"), ("PUT", "/queues/q/config")] {
            let (status, _, body) = browser.ask(method, path, &headers, job).await;
            assert_eq!((status, &body["error"]["code"]), (403, &json!("permission_denied")), "{method} {path} {foreign:?}");
        }
        let upgrade = [&headers[..], &[("upgrade", "websocket"), ("connection", "upgrade")]].concat();
        assert_eq!(browser.ask("GET", "/ws", &upgrade, "").await.0, 403, "{foreign:?}");
        assert_eq!(browser.ask("GET", "/admin/jobs", &headers, "").await.0, 200, "its answer is not for other pages to read");
    }
    assert_eq!(b.counts("q").await.iter().sum::<i64>(), 0);
    for own in [OWN_PAGE, ("origin", "http://127.0.0.1:8080")] {
        assert_eq!(browser.ask("POST", "/jobs", &[cookie, host, own], job).await.0, 201, "{own:?}");
    }
}

async fn a_session_of_a_tenant_sees_that_tenant(b: Bench) {
    let browser = Browser::of(&b, &[("acme", Role::Operator), ("boss", Role::Operator)]);
    KeyFile::change(&browser.path, false, |file| file.bind("acme", "acme")).unwrap();
    browser.access.reload().unwrap();
    let (acme, boss) = (browser.sign_in(0).await, browser.sign_in(1).await);
    assert_eq!(browser.about(&acme).await.1["tenant"], "acme");
    let job = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
    assert_eq!(browser.ask("POST", "/jobs", &[("cookie", &boss), OWN_PAGE], job).await.0, 201);
    let (_, _, made) = browser.ask("POST", "/jobs", &[("cookie", &acme), OWN_PAGE], job).await;
    let (_, _, list) = browser.ask("GET", "/admin/jobs", &[("cookie", &acme)], "").await;
    let seen: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
    assert_eq!(seen, [&made["job"]["id"]]);
    assert_eq!(browser.ask("DELETE", "/session", &[("cookie", &acme), OWN_PAGE], "").await.0, 204);
    assert_eq!(browser.about(&acme).await.0, 401);
}

async fn a_key_has_a_bounded_number_of_sessions(b: Bench) {
    let browser = Browser::of(&b, &[("ann", Role::Viewer), ("bob", Role::Viewer)]);
    let bob = browser.sign_in(1).await;
    let mut cookies = Vec::new();
    for _ in 0..101 {
        b.clock.advance(Duration::from_millis(1));
        cookies.push(browser.sign_in(0).await);
    }
    assert_eq!(browser.about(&cookies[0]).await.0, 401, "the oldest made room");
    for kept in [&cookies[1], &cookies[100], &bob] {
        assert_eq!(browser.about(kept).await.0, 200);
    }
}

async fn sessions_outlive_a_restart_and_are_pruned(b: Bench) {
    if b.engine.options().store.to_string() == "memory:" {
        return;
    }
    let browser = Browser::of(&b, &[("ann", Role::Viewer)]);
    let ann = browser.sign_in(0).await;
    let b = b.reopened().await;
    let again = Browser { router: b.engine.guarded_router(Arc::clone(&browser.access)), ..browser };
    assert_eq!(again.about(&ann).await.0, 200);
    b.advance(Duration::from_secs(13 * 3600)).await;
    let id = ojs_engine::command::session_id(ann.strip_prefix("ojs_session=").unwrap());
    assert_eq!(b.engine.store().query(ojs_engine::command::GetSession(id)).await.unwrap(), None, "the row is gone");
}

#[tokio::test]
async fn without_keys_everybody_is_an_administrator_without_a_cookie() {
    let b = Bench::memory().await;
    let ask = async |method: &str| {
        let request = Request::builder().method(method).uri("/ojs/v1/session").body(Body::empty()).unwrap();
        let response = b.engine.router().oneshot(request).await.unwrap();
        assert!(response.headers().get("set-cookie").is_none());
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice::<Value>(&bytes).unwrap_or(Value::Null))
    };
    let (status, about) = ask("GET").await;
    assert_eq!((status, &about["role"], &about["tenant"]), (200, &json!("admin"), &Value::Null));
    assert_eq!((&about["name"], &about["expires_at"]), (&Value::Null, &Value::Null));
    assert_eq!((ask("POST").await.0, ask("DELETE").await.0), (204, 204));
}
