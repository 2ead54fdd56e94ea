//! `ojs schemas`: what the arguments of job types look like, and what happens to jobs that do not match.
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::list::{Cut, MANY, Paging, Source};
use crate::output::{pairs, text};
use crate::remote::{Remote, segment};

const EXAMPLES: &str = "\
Examples:
  ojs schemas put email.send 1.0.0 schema.json
  ojs schemas mode email.send 1.0.0 strict
  ojs schemas get email.send";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// List the registered schemas.
    List(Cut),
    /// Show the schema of a job type: its latest version, or one.
    #[command(visible_alias = "show")]
    Get {
        /// The job type.
        #[arg(value_name = "TYPE")]
        job_type: String,
        /// The version.
        #[arg(value_name = "VERSION", id = "schema_version")]
        version: Option<String>,
    },
    /// Register a version. A registered version never changes.
    Put {
        /// The job type.
        #[arg(value_name = "TYPE")]
        job_type: String,
        /// The version: 2, 2.1 or 2.1.0.
        #[arg(value_name = "VERSION", id = "schema_version")]
        version: String,
        /// A file with a JSON Schema for the array of arguments; `-` reads it from standard input.
        file: PathBuf,
        /// What happens to jobs that do not match. [default: warn]
        #[arg(long, value_name = "MODE")]
        mode: Option<Mode>,
    },
    /// Change what happens to jobs that do not match a version.
    Mode {
        /// The job type.
        #[arg(value_name = "TYPE")]
        job_type: String,
        /// The version.
        #[arg(value_name = "VERSION", id = "schema_version")]
        version: String,
        /// The new mode.
        mode: Mode,
    },
    /// Delete a version. Jobs that were stored under it stay.
    Delete {
        /// The job type.
        #[arg(value_name = "TYPE")]
        job_type: String,
        /// The version.
        #[arg(value_name = "VERSION", id = "schema_version")]
        version: String,
    },
}

/// What happens to jobs that do not match.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Mode {
    /// They are refused.
    Strict,
    /// They are accepted, with warnings.
    Warn,
    /// They are not compared.
    Off,
}

impl Mode {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Warn => "warn",
            Self::Off => "off",
        }
    }
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`], and a file that cannot be read.
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    let one = |job_type: &str, version: &str| format!("/schemas/{}/{}", segment(job_type), segment(version));
    let answer = match action {
        Action::List(cut) => return list(&remote, &cut).await,
        Action::Get { job_type, version: Some(version) } => remote.get(one(&job_type, &version)).await?,
        Action::Get { job_type, version: None } => remote.get(format!("/schemas/{}", segment(&job_type))).await?,
        Action::Put { job_type, version, file, mode } => {
            let mode = mode.map(Mode::as_str);
            let body = json!({"job_type": job_type, "version": version, "schema": read(&file)?, "mode": mode});
            remote.post("/schemas", &body).await?
        }
        Action::Mode { job_type, version, mode } => {
            remote.patch(one(&job_type, &version), &json!({"mode": mode.as_str()})).await?
        }
        Action::Delete { job_type, version } => {
            let answer = remote.delete(one(&job_type, &version)).await?;
            return remote.output.show(&answer, |_| format!("{job_type} {version}: deleted"));
        }
    };
    remote.output.show(&answer, describe)
}

fn read(file: &Path) -> Result<Value, Failure> {
    let name = file.display();
    let text = if file.as_os_str() == "-" { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(file) };
    let text = text.map_err(|error| Failure::setting(format!("{name}: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Failure::setting(format!("{name} is not JSON: {error}")))
}

async fn list(remote: &Remote, cut: &Cut) -> Result<(), Failure> {
    let source = Source { path: "/schemas".to_owned(), members: &["schemas"], paging: Paging::Offset(1000) };
    let listed = cut.of(remote, &source, MANY).await?;
    let columns = ["/job_type", "/version", "/mode", "/tenant_id", "/created_at"];
    listed.show(remote.output, &["type", "version", "mode", "tenant", "registered"], |schema| {
        columns.map(|path| text(schema, path))
    })
}

fn describe(answer: &Value) -> String {
    let schema = answer.get("schema").unwrap_or(answer);
    let document = schema.get("schema").and_then(|document| serde_json::to_string_pretty(document).ok());
    let about = pairs([
        ("type", text(schema, "/job_type")),
        ("version", text(schema, "/version")),
        ("mode", text(schema, "/mode")),
        ("uri", text(schema, "/uri")),
        ("registered", text(schema, "/created_at")),
    ]);
    document.map_or_else(|| about.clone(), |document| format!("{about}\n{document}"))
}
