//! Why a command did not do what was asked, and the exit status that says so to scripts.
use std::fmt;
use std::process::ExitCode;

use ojs::transport::TransportErrorKind;

/// Ends the command. Displayed as what went wrong, then what to do.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    advice: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The server said no: not found, wrong state, invalid input.
    Refused,
    /// The command line or a setting cannot work.
    Usage,
    /// No server answers.
    Unreachable,
}

impl Failure {
    /// A setting that cannot work; `advice` says what would.
    pub fn usage(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), advice: Some(advice.into()) }
    }

    /// A setting that cannot work, in words that say what would.
    pub fn setting(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, message: message.into(), advice: None }
    }

    /// What was asked for is not there or not possible; `advice` says what is.
    pub fn refused(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, message: message.into(), advice: Some(advice.into()) }
    }

    /// Nothing answers.
    pub fn unreachable(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unreachable, message: message.into(), advice: None }
    }

    /// True when no server answered.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.kind, Kind::Unreachable)
    }

    /// Some of several operations were refused; each has been reported already.
    pub fn partly(message: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, message: message.into(), advice: None }
    }

    /// An answer that makes no sense, from something that is no OJS server.
    pub fn foreign(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unreachable, message: message.into(), advice: Some("is this the URL of an OJS server?".into()) }
    }

    /// What went wrong and what to do, in one line.
    pub fn in_one_line(&self) -> String {
        self.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The exit status of the process.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.kind {
            Kind::Refused => 1,
            Kind::Usage => 2,
            Kind::Unreachable => 3,
        })
    }
}

impl From<ojs::Error> for Failure {
    fn from(error: ojs::Error) -> Self {
        let message = error.to_string();
        let (kind, advice) = match &error {
            ojs::Error::Ojs(refusal) => (Kind::Refused, after_refusal(refusal)),
            ojs::Error::Transport(fault) => after_silence(fault.kind()),
            _ => (Kind::Usage, None),
        };
        Self { kind, message, advice }
    }
}

/// What to do when there was no answer.
fn after_silence(kind: TransportErrorKind) -> (Kind, Option<String>) {
    match kind {
        TransportErrorKind::Config | TransportErrorKind::Open => (Kind::Usage, None),
        TransportErrorKind::Timeout => (
            Kind::Unreachable,
            Some("the server is slow or far away, and may have done it: look before you repeat; --timeout waits longer".into()),
        ),
        TransportErrorKind::Interrupted => {
            (Kind::Unreachable, Some("the connection broke, and the server may have done it: look before you repeat".into()))
        }
        TransportErrorKind::NotOjs { .. } => (Kind::Unreachable, Some("--url names another server".into())),
        _ => (Kind::Unreachable, Some("start one with `ojs server`, or name another with --url".into())),
    }
}

/// What to do after a refusal, in commands: the server's own hints speak of its routes.
fn after_refusal(refusal: &ojs::OjsError) -> Option<String> {
    let resource = refusal.details.as_ref().and_then(|details| details.get("resource_type")?.as_str());
    let advice = match (&*refusal.code, resource) {
        ("not_found", Some("job")) => {
            "`ojs jobs list` shows the jobs that there are; ended ones are deleted after their retention"
        }
        ("not_found", Some("dead letter")) => {
            "`ojs dead-letter list` shows those that there are; a discarded job that is none is run again with `ojs jobs retry`"
        }
        ("not_found", Some("worker")) => {
            "`ojs workers list` shows those that are known; one that left is forgotten 30 s after its last heartbeat"
        }
        ("not_found", Some("workflow")) => "`ojs workflows list` shows those that there are",
        ("not_found", Some("cron")) => "`ojs crons list` shows those that there are",
        ("not_found", Some("queue")) => "`ojs queues list` shows those that there are",
        ("not_found", Some("train")) => "`ojs trains list` shows those that there are",
        ("not_found", Some("tenant")) => "`ojs tenants list` shows those that there are",
        ("not_found", Some("schema")) => "`ojs schemas list` shows those that there are",
        ("not_found", Some("pool")) => "`ojs pools list` shows those that there are",
        ("not_found", Some("rate limit")) => "`ojs rate-limits list` shows those that there are",
        ("not_found", Some("push_endpoint")) => "`ojs push list` shows those that there are",
        ("not_found", Some("subscription")) => "`ojs webhooks list` shows those that there are",
        ("not_found", Some("bulk operation")) => "`ojs bulk list` shows those that there are",
        ("not_found", Some("error group")) => "`ojs errors list` shows those that there are",
        ("unauthenticated", _) => "give a key with --token or OJS_AUTH_TOKEN; `ojs keys add` makes one",
        ("permission_denied", _) => "use a key whose role allows it: `ojs keys list` shows the roles",
        ("conflict", _) if refusal.details.as_ref().is_some_and(|details| details.get("worker_id").is_some()) => {
            "`ojs workers terminate ID` tells it to stop"
        }
        // The message names the field, and what it must be: the hint speaks of members of an answer that is not shown here.
        ("invalid_payload" | "invalid_request" | "validation_error", _) => return None,
        _ => return refusal.hint.clone(),
    };
    Some(advice.to_owned())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.advice.as_ref().map_or(Ok(()), |advice| write!(f, "\n     {advice}"))
    }
}
