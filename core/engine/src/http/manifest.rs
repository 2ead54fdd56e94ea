//! What this server is.
use axum::extract::State;
use axum::http::header::{HOST, HeaderMap};
use ojs_model::limits::{MAX_ENVELOPE_BYTES, MAX_META_BYTES, MAX_QUEUE_BYTES, MAX_TYPE_BYTES};
use ojs_model::{MEDIA_TYPE, SPEC_VERSION};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::http::reply::Json;

/// The official extensions that this server has.
const OFFICIAL: &[&str] = &[
    "realtime",
    "dead-letter",
    "backpressure",
    "admin-api",
    "observability",
    "bulk-operations",
    "rate-limiting",
    "graceful-shutdown",
    "schema-registry",
    "progress",
    "durable-execution",
    "fair-scheduling",
    "webhooks",
    "multi-tenancy",
];
/// Its own, by name: the exchange of decision record 1, heartbeats of relays (record 114), `job_types` in fetch and
/// exchange, trains of record 38. Then official ones that are experimental.
const OWN: &[(&str, &str)] = &[
    ("x-worker-exchange", "urn:ojs:ext:x-worker-exchange"),
    ("x-relays", "urn:ojs:ext:x-relays"),
    ("fetch_types", "urn:ojs:ext:fetch_types"),
    ("job-trains", "urn:ojs:ext:x:openjobspec:job-trains"),
    ("job-versioning", "urn:ojs:ext:experimental:job-versioning"),
];

/// Whether the manifest names an extension (`OJS-Requires-Extension`, extensions section 0.3).
pub fn has_extension(urn: &str) -> bool {
    let official = urn.strip_prefix("urn:ojs:ext:").is_some_and(|name| OFFICIAL.contains(&name));
    official || OWN.iter().any(|(_, own)| *own == urn)
}

pub async fn manifest(State(engine): State<Engine>, headers: HeaderMap) -> Json {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let described = |name: &&str| json!({"name": name, "uri": format!("urn:ojs:ext:{name}"), "version": "1.0.0"});
    let official: Vec<Value> = OFFICIAL.iter().map(described).collect();
    let own: Vec<Value> = OWN.iter().map(|(name, uri)| json!({"name": name, "uri": uri, "version": "1.0.0"})).collect();
    let mut body = json!({
        "specversion": SPEC_VERSION, "ojs_version": SPEC_VERSION,
        "implementation": {
            "name": "ojs", "version": env!("CARGO_PKG_VERSION"), "language": "rust",
            "homepage": "https://openjobspec.org", "repository": env!("CARGO_PKG_REPOSITORY"),
        },
        "conformance_level": 4, "conformance_tier": "runtime", "protocols": ["http"], "backend": engine.store_name(),
        "capabilities": {
            "batch_enqueue": true, "cron_jobs": true, "dead_letter": true, "delayed_jobs": true, "job_ttl": true,
            "priority_queues": true, "rate_limiting": true, "schema_validation": true, "unique_jobs": true,
            "workflows": true, "pause_resume": true,
        },
        "extensions": {
            "official": official,
            "experimental": own,
            "payload_limits": {
                "max_envelope_bytes": MAX_ENVELOPE_BYTES, "max_meta_bytes": MAX_META_BYTES,
                "max_queue_name_bytes": MAX_QUEUE_BYTES, "max_job_type_bytes": MAX_TYPE_BYTES,
                "supported_compression": [], "external_references": true, "chunking": false, "per_queue_limits": false,
            },
        },
        "schema_validation": true, "unique_job_strength": "strong", "media_type": MEDIA_TYPE,
        "endpoints": {"base_url": format!("http://{host}/ojs/v1"), "manifest": "/ojs/manifest", "health": "/ojs/v1/health"},
    });
    if let (Some(url), Some(members)) = (&engine.options().codec_server_url, body.as_object_mut()) {
        members.insert("codec_server_url".into(), json!(url));
    }
    Json::ok(body.to_string())
}
