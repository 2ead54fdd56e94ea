//! What this server is.
use axum::extract::State;
use axum::http::header::{HOST, HeaderMap};
use ojs_model::limits::{MAX_ENVELOPE_BYTES, MAX_META_BYTES, MAX_QUEUE_BYTES, MAX_TYPE_BYTES};
use ojs_model::{MEDIA_TYPE, SPEC_VERSION};
use serde_json::json;

use super::reply::Json;
use crate::engine::Engine;

pub async fn manifest(State(engine): State<Engine>, headers: HeaderMap) -> Json {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let body = json!({
        "specversion": SPEC_VERSION, "ojs_version": SPEC_VERSION,
        "implementation": {
            "name": "ojs", "version": env!("CARGO_PKG_VERSION"), "language": "rust",
            "homepage": "https://openjobspec.org", "repository": env!("CARGO_PKG_REPOSITORY"),
        },
        "conformance_level": 4, "conformance_tier": "runtime", "protocols": ["http"], "backend": engine.store_name(),
        "capabilities": {
            "batch_enqueue": true, "cron_jobs": true, "dead_letter": true, "delayed_jobs": true, "job_ttl": true,
            "priority_queues": true, "rate_limiting": true, "schema_validation": false, "unique_jobs": true,
            "workflows": true, "pause_resume": true,
        },
        "extensions": {
            "official": [
                {"name": "realtime", "uri": "urn:ojs:ext:realtime", "version": "1.0.0"},
                {"name": "dead-letter", "uri": "urn:ojs:ext:dead-letter", "version": "1.0.0"},
                {"name": "backpressure", "uri": "urn:ojs:ext:backpressure", "version": "1.0.0"},
                {"name": "admin-api", "uri": "urn:ojs:ext:admin-api", "version": "1.0.0"},
                {"name": "bulk-operations", "uri": "urn:ojs:ext:bulk-operations", "version": "1.0.0"},
                {"name": "rate-limiting", "uri": "urn:ojs:ext:rate-limiting", "version": "1.0.0"},
            ],
            "experimental": [{"name": "x-worker-exchange", "uri": "urn:ojs:ext:x-worker-exchange", "version": "1.0.0"}],
            "payload_limits": {
                "max_envelope_bytes": MAX_ENVELOPE_BYTES, "max_meta_bytes": MAX_META_BYTES,
                "max_queue_name_bytes": MAX_QUEUE_BYTES, "max_job_type_bytes": MAX_TYPE_BYTES,
                "supported_compression": [], "external_references": true, "chunking": false, "per_queue_limits": false,
            },
        },
        "schema_validation": false, "unique_job_strength": "strong", "media_type": MEDIA_TYPE,
        "endpoints": {"base_url": format!("http://{host}/ojs/v1"), "manifest": "/ojs/manifest", "health": "/ojs/v1/health"},
    });
    Json::ok(body.to_string())
}
