//! Who can reach a server and what they may do there; who can read its file of keys.
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use ojs_engine::access::{KeyFile, Role};
use serde_json::Value;

use super::context::{Context, now_ms};
use super::finding::{Finding, note, ok, skipped, warning};
use crate::failure::Failure;

/// Keys that are older should be replaced.
const OLD_KEY_MS: i64 = 365 * 86_400_000;

/// The server, and the file of keys.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let mut found = Vec::new();
    if let (Some(url), Some(_)) = (&context.url, &context.remote) {
        found.extend(server(context, url).await?);
    }
    if let Some(path) = &context.keys {
        found.extend(keys(path)?);
    }
    if found.is_empty() {
        found.push(skipped("no server answers, and --keys names no file"));
    }
    Ok(found)
}

async fn server(context: &Context, url: &str) -> Result<Vec<Finding>, Failure> {
    let mut found = Vec::new();
    if context.config().await?.get("test_mode") == Some(&Value::Bool(true)) {
        let said = "it runs with --test-mode: anyone who can connect can delete all jobs";
        found.push(warning(said).seen("test_mode", true).cleared_by("ojs server   # without --test-mode"));
    }
    let beyond = !is_loopback(url);
    if beyond && url.starts_with("http://") {
        let said = "it listens beyond loopback without TLS: a network observer can read keys and jobs";
        found.push(warning(said).seen("url", url).cleared_by("ojs doctor --url https://…   # and a proxy with TLS in front"));
    }
    if beyond && !context.has_token {
        let said = "it asks for no key, and can be reached beyond loopback: every client can do everything";
        found.push(
            warning(said).seen("url", url).cleared_by("ojs keys add operator --role operator && ojs server --keys ojs-keys.json"),
        );
    }
    if found.is_empty() {
        found.push(ok(if beyond { "keys and TLS are in use" } else { "asked on loopback" }));
    }
    Ok(found)
}

/// Whether the host of a URL is this machine.
fn is_loopback(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let address = host.parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback() || ip == Ipv4Addr::UNSPECIFIED)
}

fn keys(path: &Path) -> Result<Vec<Finding>, Failure> {
    let file = KeyFile::read(path)?;
    let shown = path.display().to_string();
    let mut found = Vec::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let read = std::fs::metadata(path).map_err(|error| Failure::setting(format!("{shown}: {error}")))?;
        let mode = read.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let said = format!("other users of this machine can read {shown} (mode {mode:o})");
            found.push(warning(said).seen("mode", format!("{mode:o}")).cleared_by(format!("chmod 600 {shown}")));
        }
    }
    for key in &file.keys {
        let created = ojs_model::Timestamp::parse(&key.created_at).map_or(i64::MAX, ojs_model::Timestamp::as_millis);
        if now_ms().saturating_sub(created) > OLD_KEY_MS {
            let said = format!("the key '{}' is older than a year: replace it", key.name);
            found.push(
                warning(said).seen("key", key.name.as_str()).cleared_by(format!("ojs keys revoke {} --keys {shown}", key.name)),
            );
        }
        if key.roles.contains(&Role::Admin) && key.roles.contains(&Role::Worker) {
            let said = format!("the key '{}' is a worker's and an admin's: a worker needs less", key.name);
            found.push(note(said).seen("key", key.name.as_str()));
        }
    }
    if found.is_empty() {
        found.push(ok(format!("{} keys in {shown}, which only its owner reads", file.keys.len())));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn loopback_is_this_machine() {
        for url in ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:80/x", "http://a.localhost:1/"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://10.0.0.5:8080", "https://jobs.example.com", "http://127.0.0.1@evil.example:80", "http://[fe80::1]/"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
