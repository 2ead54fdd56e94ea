//! Versions of server, tool and workers.
use super::context::Context;
use super::finding::{Finding, ok, warning};
use crate::failure::Failure;
use crate::output::text;

/// Versions that are two minors apart have not been tested together.
const APART: u64 = 2;

/// Compares them with the version of this tool.
pub async fn look(context: &Context) -> Result<Vec<Finding>, Failure> {
    let own = env!("CARGO_PKG_VERSION");
    let server = text(context.config().await?, "/version");
    let mut found = Vec::new();
    if fits(own, &server) {
        found.push(ok(format!("the server is {server}, this tool {own}")).seen("server", server.as_str()));
    } else {
        let said = format!("the server is {server}, this tool {own}: bring both to the same version");
        found.push(warning(said).seen("server", server.as_str()).seen("tool", own).cleared_by("ojs --version"));
    }
    for worker in context.workers().await? {
        // What a worker calls its version is the application's; the SDK names itself in the metadata.
        let (id, sdk) = (text(&worker.value, "/id"), text(&worker.value, "/metadata/sdk_version"));
        if !sdk.is_empty() && !fits(&server, &sdk) {
            let said = format!("worker {id} has version {sdk} of the SDK, the server is {server}: upgrade the older one");
            found.push(
                warning(said).seen("worker", id.as_str()).seen("sdk", sdk).cleared_by(format!("ojs workers terminate {id}")),
            );
        }
    }
    Ok(found)
}

/// The same major version, and less than two minors apart; what is no version is not judged.
fn fits(one: &str, other: &str) -> bool {
    let parts = |version: &str| {
        let mut numbers = version.split('.').map(str::parse::<u64>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    match (parts(one), parts(other)) {
        (Some((major, minor)), Some((its_major, its_minor))) => major == its_major && minor.abs_diff(its_minor) < APART,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn two_minors_apart_do_not_fit() {
        assert!(fits("0.1.0", "0.2.9") && fits("1.4.0", "1.3.0") && fits("0.1.0", "") && fits("0.1.0", "dev"));
        assert!(!fits("0.1.0", "0.3.0") && !fits("1.0.0", "2.0.0"));
    }
}
