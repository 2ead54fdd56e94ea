//! What a check says: how bad it is, what was seen, and the command that clears it.
use serde_json::{Map, Value, json};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// All is well.
    Ok,
    /// There was nothing to look at.
    Skipped,
    /// Worth knowing; nothing has to be done.
    Note,
    /// Something to do.
    Warning,
    /// Jobs are lost, not handed out, or cannot be looked at.
    Error,
}

impl Level {
    /// As it is shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// Whether the command ends with exit status 1 because of it. Strict: also because of notes.
    pub fn is_problem(self, strict: bool) -> bool {
        self >= if strict { Self::Note } else { Self::Warning }
    }
}

/// What a check found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The name of the check; [`run`](super::check::run) fills it in.
    pub check: &'static str,
    /// How bad it is.
    pub level: Level,
    /// A sentence.
    pub message: String,
    /// What was seen, for programs.
    pub evidence: Map<String, Value>,
    /// The command that clears it.
    pub command: Option<String>,
    /// The sentence quotes what others wrote, such as the message of an error: a bundle leaves it out.
    pub quotes: bool,
}

impl Finding {
    fn new(level: Level, message: impl Into<String>) -> Self {
        Self { check: "", level, message: message.into(), evidence: Map::new(), command: None, quotes: false }
    }

    /// Adds something that was seen.
    pub fn seen(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.evidence.insert(name.to_owned(), value.into());
        self
    }

    /// Says what clears it.
    pub fn cleared_by(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    /// Says that the sentence quotes what others wrote.
    pub fn quoting(self) -> Self {
        Self { quotes: true, ..self }
    }

    /// The form of `--json`.
    pub fn to_json(&self, page: &str) -> Value {
        json!({
            "check": self.check, "level": self.level.as_str(), "message": self.message,
            "evidence": self.evidence, "command": self.command, "page": page,
        })
    }
}

/// All is well.
pub fn ok(message: impl Into<String>) -> Finding {
    Finding::new(Level::Ok, message)
}

/// There was nothing to look at.
pub fn skipped(message: impl Into<String>) -> Finding {
    Finding::new(Level::Skipped, message)
}

/// Worth knowing.
pub fn note(message: impl Into<String>) -> Finding {
    Finding::new(Level::Note, message)
}

/// Something to do.
pub fn warning(message: impl Into<String>) -> Finding {
    Finding::new(Level::Warning, message)
}

/// Something to do now.
pub fn error(message: impl Into<String>) -> Finding {
    Finding::new(Level::Error, message)
}
