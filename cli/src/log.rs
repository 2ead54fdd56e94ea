//! Log lines go to stderr: stdout belongs to results.
use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;
use crate::failure::Failure;

/// Installs the subscriber of this process.
///
/// # Errors
/// A filter that cannot be read.
pub fn start(level: &str, format: LogFormat) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(level).map_err(|error| {
        Failure::usage(format!("--log-level '{level}': {error}"), "use error, warn, info, debug, trace, or target=level pairs")
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
    Ok(())
}
