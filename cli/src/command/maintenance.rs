//! `ojs maintenance`: a pause for everything.
use clap::Subcommand;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{pairs, text};
use crate::remote::Remote;

const EXAMPLES: &str = "\
While it lasts nothing is handed out, promoted or fired; jobs are still accepted, and those that run may finish.

Examples:
  ojs maintenance on --reason 'database upgrade' --for PT30M
  ojs maintenance off";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// Hand out nothing.
    On {
        /// Why; shown to others.
        #[arg(long, default_value = "")]
        reason: String,
        /// How long it is expected to take, ISO 8601. It does not end by itself.
        #[arg(long = "for", value_name = "DURATION")]
        lasts: Option<String>,
    },
    /// Go on.
    Off,
    /// Tell whether it is on.
    Status,
}

/// Carries out one of the actions.
///
/// # Errors
/// As [`Remote::call`].
pub async fn run(action: Action, remote: Remote) -> Result<(), Failure> {
    const PATH: &str = "/admin/system/maintenance";
    let answer = match action {
        Action::Status => remote.get(PATH).await?,
        Action::Off => remote.post(PATH, &json!({"enabled": false})).await?,
        Action::On { reason, lasts } => {
            remote.post(PATH, &json!({"enabled": true, "reason": reason, "estimated_duration": lasts})).await?
        }
    };
    remote.output.show(&answer, |value: &Value| {
        pairs([
            ("maintenance", if text(value, "/maintenance") == "true" { "on".to_owned() } else { "off".to_owned() }),
            ("reason", text(value, "/reason")),
            ("since", text(value, "/enabled_at")),
            ("expected end", text(value, "/estimated_end")),
        ])
    })
}
