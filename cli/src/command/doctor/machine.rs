//! What the process of the server may take: open files, memory.
use super::context::Context;
use super::finding::{Finding, ok, skipped, warning};
use crate::failure::Failure;

/// Fewer open files than this are used up by a few hundred clients.
const FEW_FILES: f64 = 1_024.0;
/// Share of a limit that is near it.
const NEAR: f64 = 0.8;

/// The figures of the process in `/metrics`.
pub async fn limits(context: &Context) -> Result<Vec<Finding>, Failure> {
    let samples = context.metrics().await?;
    let figure = |name: &str| samples.get(name).copied();
    let mut found = Vec::new();
    if let (Some(open), Some(most)) = (figure("process_open_fds"), figure("process_max_fds")) {
        let said = format!("{open:.0} of {most:.0} files are open");
        let danger = if open > most * NEAR {
            Some("the server will soon refuse connections")
        } else if most < FEW_FILES {
            Some("a few hundred clients use them up")
        } else {
            None
        };
        let finding = match danger {
            Some(danger) => warning(format!("{said}: {danger}")).cleared_by("ulimit -n 65536 && ojs server"),
            None => ok(said),
        };
        found.push(finding.seen("open", open).seen("limit", most));
    }
    if let (Some(used), Some(most)) = (figure("process_resident_memory_bytes"), figure("ojs_process_memory_limit_bytes")) {
        let said = format!("{:.0} of {:.0} MiB of memory are used", used / 1_048_576.0, most / 1_048_576.0);
        found.push(if used > most * NEAR {
            warning(format!("{said}: the system will end the server. Give it more"))
                .cleared_by(format!("systemctl set-property ojs MemoryMax={:.0}M", most / 524_288.0))
        } else {
            ok(said)
        });
    }
    if found.is_empty() {
        found.push(skipped("the server does not tell its limits"));
    }
    Ok(found)
}
