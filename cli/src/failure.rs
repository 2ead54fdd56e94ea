//! Why a command did not do what was asked, and the exit status that says so to scripts.
use std::fmt;
use std::process::ExitCode;

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

    /// Some of several operations were refused; each has been reported already.
    pub fn partly(message: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, message: message.into(), advice: None }
    }

    /// An answer that makes no sense, from something that is no OJS server.
    pub fn foreign(message: impl Into<String>) -> Self {
        Self { kind: Kind::Unreachable, message: message.into(), advice: Some("is this the URL of an OJS server?".into()) }
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
            ojs::Error::Ojs(refusal) => (Kind::Refused, refusal.hint.clone()),
            ojs::Error::Transport(fault) => match fault.kind() {
                ojs::transport::TransportErrorKind::Config | ojs::transport::TransportErrorKind::Open => (Kind::Usage, None),
                _ => (Kind::Unreachable, Some("start one with `ojs server`, or name another with --url".to_owned())),
            },
            _ => (Kind::Usage, None),
        };
        Self { kind, message, advice }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.advice.as_ref().map_or(Ok(()), |advice| write!(f, "\n     {advice}"))
    }
}
