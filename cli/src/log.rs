//! Log lines go to stderr: stdout belongs to results. For people, or one JSON object per record (extensions, section 13).
use std::fmt;
use std::io::IsTerminal;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::args::LogFormat;
use crate::failure::Failure;
use crate::telemetry::Telemetry;
use crate::when::now;

/// Installs the subscriber of this process. `jobs`: a record for every step of every job, too.
///
/// # Errors
/// A filter that cannot be read.
pub fn start(level: &str, format: LogFormat, jobs: bool) -> Result<(), Failure> {
    start_with(level, format, jobs, &Telemetry::default())
}

/// The same, with what is sent elsewhere.
///
/// # Errors
/// As [`start`].
pub fn start_with(level: &str, format: LogFormat, jobs: bool, telemetry: &Telemetry) -> Result<(), Failure> {
    subscriber(level, format, jobs, telemetry)?.init();
    Ok(())
}

fn subscriber(level: &str, format: LogFormat, jobs: bool, telemetry: &Telemetry) -> Result<impl Subscriber, Failure> {
    let directives = directives(level, jobs);
    let filter = EnvFilter::try_new(&directives).map_err(|error| {
        Failure::usage(format!("--log-level '{level}': {error}"), "use error, warn, info, debug, trace, or target=level pairs")
    })?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_filter(filter).boxed(),
        LogFormat::Json => lines.event_format(Record).with_filter(filter).boxed(),
    };
    // One vector of filtered layers: beside an optional layer that is absent, the registry asks at every event and is
    // told that it is wanted.
    let mut layers = telemetry.layers(&directives);
    layers.push(lines);
    Ok(tracing_subscriber::registry().with(layers))
}

/// A level alone is that of our own crates. Others say nothing unless they are named: drivers of databases log the parameters of
/// statements, and with them the arguments of jobs.
fn directives(level: &str, jobs: bool) -> String {
    let level = if level.trim().is_empty() { "error" } else { level };
    let own = |word: &str| if word.parse::<LevelFilter>().is_ok() { format!("ojs={word}") } else { word.to_owned() };
    let words: Vec<String> = level.split(',').map(str::trim).filter(|word| !word.is_empty()).map(own).collect();
    // The last directive for a target counts: who names it in --log-level has the say.
    let steps = if jobs || level.contains("ojs::jobs") { "" } else { ",ojs::jobs=off" };
    format!("{}{steps}", words.join(","))
}

/// `{timestamp, severity, severity_number, message, component, category, ojs, trace, error, attributes}`.
struct Record;

impl<S, N> FormatEvent<S, N> for Record
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let (severity, number) = severity(*event.metadata().level());
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields { message, ojs, trace, error, mut attributes } = fields;
        let category = match (event.metadata().target(), severity) {
            ("ojs::jobs", _) if message.starts_with("worker.") => "worker",
            ("ojs::jobs", _) => "lifecycle",
            (_, "ERROR") => "error",
            _ => "server",
        };
        attributes.insert("target".to_owned(), event.metadata().target().into());
        let mut record = json!({
            "timestamp": now().to_string(), "severity": severity, "severity_number": number, "message": message,
            "component": "server", "category": category,
        });
        if let Value::Object(record) = &mut record {
            let parts = [("ojs", ojs), ("trace", trace), ("error", error), ("attributes", attributes)];
            record.extend(
                parts.into_iter().filter(|(_, part)| !part.is_empty()).map(|(name, part)| (name.to_owned(), part.into())),
            );
        }
        writeln!(out, "{record}")
    }
}

/// The words and numbers of the logging extension.
fn severity(level: Level) -> (&'static str, u8) {
    match level {
        Level::TRACE => ("TRACE", 1),
        Level::DEBUG => ("DEBUG", 5),
        Level::INFO => ("INFO", 9),
        Level::WARN => ("WARN", 13),
        Level::ERROR => ("ERROR", 17),
    }
}

/// The fields of an event in the groups that the record has for them.
#[derive(Default)]
struct Fields {
    message: String,
    ojs: Map<String, Value>,
    trace: Map<String, Value>,
    error: Map<String, Value>,
    attributes: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        let name = field.name();
        let (group, name) = match name {
            "message" => {
                self.message = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                return;
            }
            "job_id" | "job_type" | "queue" | "attempt" | "state" | "worker_id" | "workflow_id" | "correlation_id" => {
                (&mut self.ojs, name)
            }
            "trace_id" | "span_id" => (&mut self.trace, name),
            "error_type" => (&mut self.error, "type"),
            "error_message" | "error" | "fault" => (&mut self.error, "message"),
            _ => (&mut self.attributes, name),
        };
        group.insert(name.to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_that_of_our_own_crates() {
        for (level, jobs, expected) in [
            ("debug", true, "ojs=debug"),
            ("debug", false, "ojs=debug,ojs::jobs=off"),
            ("", true, "ojs=error"),
            ("ojs_engine=debug, info", true, "ojs_engine=debug,ojs=info"),
            ("trace,tokio_postgres=debug", true, "ojs=trace,tokio_postgres=debug"),
            ("info,ojs::jobs=info", false, "ojs=info,ojs::jobs=info"),
        ] {
            assert_eq!(directives(level, jobs), expected);
            assert!(EnvFilter::try_new(directives(level, jobs)).is_ok());
        }
    }

    #[test]
    fn steps_of_jobs_cost_nothing_where_they_are_not_logged() {
        for (level, jobs, expected) in [("info", false, false), ("error", true, true), ("off", true, false)] {
            for format in [LogFormat::Text, LogFormat::Json] {
                let subscriber = subscriber(level, format, jobs, &Telemetry::default()).unwrap();
                let on = tracing::subscriber::with_default(subscriber, || tracing::enabled!(target: "ojs::jobs", Level::ERROR));
                assert_eq!(on, expected, "{level}, {jobs}");
            }
        }
    }
}
