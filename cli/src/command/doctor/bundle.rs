//! What a report of a fault needs, in one file: findings, versions, settings without secrets, figures. No arguments,
//! no results, no keys.
use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use ojs::transport::METRICS_PATH;
use ojs_model::redact::SecretUrl;
use serde_json::{Value, json};

use super::context::Context;
use crate::failure::Failure;

/// Names of environment variables whose values are shown; of all others only the names.
const SHOWN: &[&str] =
    &["OJS_LISTEN", "OJS_LOG_LEVEL", "OJS_LOG_FORMAT", "OJS_LOG_JOBS", "OJS_MISSING_TENANT", "OJS_EVENT_SOURCE"];
/// Those that are URLs: shown with `***` in the place of their passwords, and without their parameters.
const URLS: &[&str] = &["OJS_URL", "OJS_BACKEND_URL", "OJS_STORE", "OJS_OUTBOX_DATABASE", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Writes the bundle, a gzipped tar, readable by its owner only.
///
/// # Errors
/// When the file cannot be written.
pub async fn write(path: &Path, context: &Context, report: &Value) -> Result<(), Failure> {
    let mut parts = vec![
        ("findings.json", pretty(report)),
        ("versions.json", pretty(&versions())),
        ("settings.json", pretty(&settings(context))),
    ];
    if context.url.is_some()
        && let Some(remote) = &context.remote
    {
        // What does not answer is left out: a bundle is wanted when things are broken.
        for (name, wanted) in
            [("config.json", "/admin/system/config"), ("health.json", "/health"), ("stats.json", "/admin/stats")]
        {
            if let Ok(Ok(answer)) = tokio::time::timeout(super::check::ONE, remote.get(wanted)).await {
                parts.push((name, pretty(&answer.value)));
            }
        }
        if let Ok(Ok(text)) = tokio::time::timeout(super::check::ONE, remote.text(METRICS_PATH)).await {
            parts.push(("metrics.txt", text));
        }
    }
    let cannot = |error: std::io::Error| Failure::setting(format!("--bundle {}: {error}", path.display()));
    pack(path, &parts).map_err(cannot)
}

fn pack(path: &Path, parts: &[(&str, String)]) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut archive = tar::Builder::new(GzEncoder::new(options.open(path)?, Compression::default()));
    for (name, text) in parts {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        archive.append_data(&mut header, format!("ojs-doctor/{name}"), text.as_bytes())?;
    }
    archive.into_inner()?.finish()?.flush()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn versions() -> Value {
    json!({
        "ojs": env!("CARGO_PKG_VERSION"), "spec": ojs_model::SPEC_VERSION,
        "os": std::env::consts::OS, "arch": std::env::consts::ARCH,
        "processors": std::thread::available_parallelism().map(std::num::NonZero::get).unwrap_or(1),
    })
}

fn settings(context: &Context) -> Value {
    let redacted = |url: &str| {
        let shown = SecretUrl::from(url.to_owned()).to_string();
        shown.split('?').next().unwrap_or_default().to_owned()
    };
    let mut environment = serde_json::Map::new();
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        if !name.starts_with("OJS_") && !name.starts_with("OTEL_") {
            continue;
        }
        let shown = match name {
            _ if SHOWN.contains(&name) => value.to_owned(),
            _ if URLS.contains(&name) => redacted(value),
            _ => "(set)".to_owned(),
        };
        environment.insert(name.to_owned(), shown.into());
    }
    json!({
        "url": context.url.as_deref().map(redacted), "key": if context.has_token { "(set)" } else { "none" },
        "store": context.store.as_ref().map(|store| redacted(&store.to_string())),
        "keys": context.keys, "environment": environment,
    })
}
