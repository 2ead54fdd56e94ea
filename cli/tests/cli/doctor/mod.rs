//! What the doctor finds, on a real server and on a store alone: each check once where it fires, once where it is
//! quiet.
mod command;
mod jobs;
mod postgres;
mod relays;
mod server;
mod stores;

use crate::common::ojs;
use serde_json::Value;

/// The report of some checks.
async fn report(url: &str, arguments: &[&str]) -> Value {
    let output = ojs(url, &[&["doctor", "--json"], arguments].concat()).await;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let found = output.status.code();
    assert!(found == Some(i32::from(report["problems"] != 0)) || found == Some(3), "{report}");
    report
}

/// What is wrong, by the findings of a report: message and command. None when all is well.
fn wrong(report: &Value) -> Option<(String, String)> {
    let findings = report["findings"].as_array().unwrap();
    let failed = findings.iter().find(|finding| finding["message"].as_str().unwrap().contains("could not be done"));
    assert!(failed.is_none(), "{report}");
    let found = findings.iter().find(|finding| finding["level"] != "ok" && finding["level"] != "skipped")?;
    assert!(found["page"].as_str().unwrap().starts_with("docs/"), "{found}");
    let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
    Some((text("message"), text("command")))
}

/// What one check of a server, or of a store as a server, finds.
async fn warned(url: &str, check: &str) -> Option<(String, String)> {
    wrong(&report(url, &["--only", check]).await)
}

/// Runs the command that a finding names, as a shell would.
async fn run(url: &str, command: &str) {
    let directory = std::path::Path::new(env!("CARGO_BIN_EXE_ojs")).parent().unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    let mut shell = tokio::process::Command::new("sh");
    let output =
        shell.args(["-c", command]).env("PATH", path).env("OJS_URL", url).env_remove("OJS_AUTH_TOKEN").output().await.unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
}
