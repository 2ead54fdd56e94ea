//! What this server is.
use axum::extract::State;
use axum::http::header::{HOST, HeaderMap};
use ojs_model::limits::{MAX_ENVELOPE_BYTES, MAX_META_BYTES, MAX_QUEUE_BYTES, MAX_TYPE_BYTES};
use ojs_model::{MEDIA_TYPE, SPEC_VERSION};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::features;
use crate::features::feature::Extension;
use crate::http::reply::Json;

/// The extensions of the kernel. The last one is the exchange of decision record 1.
const EXTENSIONS: &[Extension] = &[
    Extension::Official("realtime"),
    Extension::Official("observability"),
    Extension::Official("graceful-shutdown"),
    Extension::Own("x-worker-exchange", "urn:ojs:ext:x-worker-exchange"),
];
/// What the kernel can do.
const CAPABILITIES: &[&str] = &["batch_enqueue", "delayed_jobs", "job_ttl", "priority_queues", "unique_jobs"];

/// All extensions.
fn extensions() -> impl Iterator<Item = Extension> {
    EXTENSIONS.iter().chain(features::ALL.iter().flat_map(|feature| feature.extensions)).copied()
}

/// Whether the manifest names an extension (`OJS-Requires-Extension`, extensions section 0.3).
pub fn has_extension(urn: &str) -> bool {
    extensions().any(|extension| extension.urn() == urn)
}

pub async fn manifest(State(engine): State<Engine>, headers: HeaderMap) -> Json {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let (official, own): (Vec<Extension>, Vec<Extension>) =
        extensions().partition(|extension| matches!(extension, Extension::Official(_)));
    let described = |all: Vec<Extension>| -> Vec<Value> {
        all.iter().map(|one| json!({"name": one.name(), "uri": one.urn(), "version": "1.0.0"})).collect()
    };
    let of_features = features::ALL.iter().flat_map(|feature| feature.capabilities);
    let capabilities: Map<String, Value> =
        CAPABILITIES.iter().chain(of_features).map(|name| ((*name).to_owned(), Value::Bool(true))).collect();
    let mut body = json!({
        "specversion": SPEC_VERSION, "ojs_version": SPEC_VERSION,
        "implementation": {
            "name": "ojs", "version": env!("CARGO_PKG_VERSION"), "language": "rust",
            "homepage": "https://openjobspec.org", "repository": env!("CARGO_PKG_REPOSITORY"),
        },
        "conformance_level": 4, "conformance_tier": "runtime", "protocols": ["http"], "backend": engine.store_name(),
        "capabilities": capabilities,
        "extensions": {
            "official": described(official),
            "experimental": described(own),
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
