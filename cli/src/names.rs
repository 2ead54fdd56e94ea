//! Names that were mistyped: which one was meant.
use ojs_model::spelling::nearest;

/// `did you mean 'mail'?`, or nothing.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|name| format!("did you mean '{name}'?"))
}
