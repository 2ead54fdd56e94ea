//! `ojs health` and `ojs manifest`.
use ojs::transport::MANIFEST_PATH;
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{items, pairs, text};
use crate::remote::Remote;

/// How the server is. A degraded server is a refusal (exit status 1).
///
/// # Errors
/// As [`Remote::call`].
pub async fn health(remote: Remote) -> Result<(), Failure> {
    let answer = remote.get("/health").await?;
    remote.output.show(&answer, |health| {
        pairs([
            ("status", text(health, "/status")),
            ("version", text(health, "/version")),
            ("uptime", health.pointer("/uptime_seconds").and_then(Value::as_f64).map(uptime).unwrap_or_default()),
            ("store", text(health, "/backend/type")),
            ("store status", text(health, "/backend/status")),
        ])
    })
}

/// What the server implements.
///
/// # Errors
/// As [`Remote::call`].
pub async fn manifest(remote: Remote) -> Result<(), Failure> {
    let answer = remote.get(MANIFEST_PATH).await?;
    remote.output.show(&answer, |manifest| {
        pairs([
            ("implementation", text(manifest, "/implementation/name")),
            ("version", text(manifest, "/implementation/version")),
            ("spec version", text(manifest, "/specversion")),
            ("conformance level", text(manifest, "/conformance_level")),
            ("protocols", names(items(manifest, "/protocols"))),
            ("store", text(manifest, "/backend")),
            ("capabilities", capabilities(manifest)),
            ("extensions", names(items(manifest, "/extensions/official"))),
            ("experimental", names(items(manifest, "/extensions/experimental"))),
        ])
    })
}

/// `90_061.0` → `1d 1h 1m`; the two or three figures that matter.
fn uptime(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole seconds, clamped at zero")]
    let seconds = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, ..) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h {minutes}m"),
    }
}

/// Names of extensions: servers list strings or objects.
fn names(list: &[Value]) -> String {
    list.iter().map(|item| if item.is_object() { text(item, "/name") } else { text(item, "") }).collect::<Vec<_>>().join(", ")
}

/// The capabilities that are switched on.
fn capabilities(manifest: &Value) -> String {
    let members = manifest.pointer("/capabilities").and_then(Value::as_object);
    let on = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    members.into_iter().flatten().filter(|(_, value)| on(value)).map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn uptime_shows_the_figures_that_matter() {
        assert_eq!(
            ["59s", "1m 1s", "2h 0m", "1d 1h 1m"],
            [59.9, 61.0, 7200.0, 90_061.0].map(uptime).each_ref().map(String::as_str)
        );
    }

    #[test]
    fn both_shapes_of_a_manifest_are_read() {
        let manifest = json!({"capabilities": {"cron_jobs": false, "dead_letter": true, "unique_jobs": {"strength": "strong"}}});
        assert_eq!(capabilities(&manifest), "dead_letter, unique_jobs");
        assert_eq!(names(&[json!("a"), json!({"name": "b", "uri": "urn:b"})]), "a, b");
    }
}
