//! Figures of the process itself, under the names that Prometheus' own clients use. They are read from the system at
//! each scrape. Those that the system does not have (outside Linux) are left out.
use std::fmt;
use std::fs;

use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use super::figures::family;

/// Writes what the system tells.
pub(crate) fn write(encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    for (name, help, value) in [
        ("process_open_fds", "Open files, connections included", open_files()),
        ("process_max_fds", "Most files that may be open", max_files()),
        ("process_resident_memory_bytes", "Memory in use", resident()),
        ("ojs_process_memory_limit_bytes", "Memory that the container may use", memory_limit()),
    ] {
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        if let Some(value) = value {
            family.encode_gauge(&value)?;
        }
    }
    let build = [([("version", env!("CARGO_PKG_VERSION"))], 1_i64)];
    family!(encoder, Gauge, "ojs_build_info", "The version of the server", build, |one, into| into.encode_gauge(&one));
    Ok(())
}

fn count(number: u64) -> f64 {
    number as f64
}

fn open_files() -> Option<f64> {
    Some(count(fs::read_dir("/proc/self/fd").ok()?.count() as u64))
}

fn max_files() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn resident() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(count(line.split_whitespace().next()?.parse::<u64>().ok()?.saturating_mul(1024)))
}

/// The limit of the control group; none when there is no limit.
fn memory_limit() -> Option<f64> {
    let group = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = group.lines().find_map(|line| line.strip_prefix("0::"))?;
    let own = fs::read_to_string(format!("/sys/fs/cgroup{path}/memory.max"));
    own.or_else(|_| fs::read_to_string("/sys/fs/cgroup/memory.max")).ok()?.trim().parse().ok()
}
