//! What can go wrong.
use std::path::Path;

/// Why nothing could be generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read or written.
    #[error("{path}: {cause}")]
    File {
        /// Which one.
        path: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// Not run in the repository.
    #[error("there is no {} here or above: run it in the repository", crate::schema::PATH)]
    Elsewhere,
    /// The schema is not one.
    #[error("{path}: {0}", path = crate::schema::PATH)]
    Schema(#[from] toml::de::Error),
    /// A table of operations is not one.
    #[error("{path}: {cause}")]
    Operations {
        /// Which one.
        path: String,
        /// What is wrong.
        cause: toml::de::Error,
    },
    /// What cannot be written as JSON.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The schema contradicts itself.
    #[error("{path}: {0}", path = crate::schema::PATH)]
    Contradiction(String),
    /// A template that cannot be rendered.
    #[error("xtask/templates/{name}: {}", described(.cause))]
    Template {
        /// Its path.
        name: String,
        /// What the engine says.
        cause: minijinja::Error,
    },
    /// A library that uniffi cannot make code of.
    #[error("uniffi: {0}")]
    Bindings(String),
    /// A file that has no place for what is generated.
    #[error("{path}: there must be one line with '{}' and below it one with '{}'", crate::part::begin(.template), crate::part::END)]
    NoPlace {
        /// Which one.
        path: String,
        /// What belongs there.
        template: String,
    },
}

impl Error {
    pub fn file(path: impl AsRef<Path>, cause: std::io::Error) -> Self {
        Self::File { path: path.as_ref().display().to_string(), cause }
    }
}

/// The message with the place, and what was behind it.
fn described(error: &minijinja::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(below) = cause {
        text = format!("{text}: {below}");
        cause = below.source();
    }
    text
}
