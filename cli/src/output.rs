//! Results on stdout: tables for people, the server's JSON for programs.
use std::io::{ErrorKind, IsTerminal, Write};

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;

use crate::failure::Failure;
use crate::remote::Answer;

/// How results are shown.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// JSON instead of tables.
    pub json: bool,
}

impl Output {
    /// Prints the answer: as JSON if that was asked for, else as the table made of it.
    ///
    /// # Errors
    /// When it cannot be written; a reader that went away is no error.
    pub fn show(self, answer: &Answer, table: impl FnOnce(&Value) -> String) -> Result<(), Failure> {
        if self.json { print(answer.text.trim_end()) } else { print(&table(&answer.value)) }
    }
}

/// A line on stdout. A reader that went away (`| head`) is no error: what the command does is done to the end.
///
/// # Errors
/// When it cannot be written: a full disk.
pub fn print(text: &str) -> Result<(), Failure> {
    write(format!("{text}\n").as_bytes()).map(drop)
}

/// The same for output without end: false when its reader is gone.
///
/// # Errors
/// When it cannot be written: a full disk.
pub fn write(bytes: &[u8]) -> Result<bool, Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::setting(format!("cannot write the output: {error}"))),
    }
}

/// A remark on stderr. Where it cannot be written, the exit status says what is to be said.
pub fn remark(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Rows under a heading.
pub fn rows(heading: &[&str], lines: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = empty();
    table.set_header(heading.iter().map(|name| name.to_uppercase()));
    for line in lines {
        table.add_row(line);
    }
    trimmed(&table)
}

/// Names and values, one pair per line. Absent values are left out.
pub fn pairs(lines: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let mut table = empty();
    for (name, value) in lines {
        if !value.is_empty() {
            table.add_row([name.to_owned(), value]);
        }
    }
    trimmed(&table)
}

/// Columns without lines: easy to read, easy to cut. On a terminal long cells wrap, in a pipe they stay whole.
fn empty() -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    if std::io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table
}

/// Without the padding at the ends of the lines.
fn trimmed(table: &Table) -> String {
    table.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The text of a member, `""` when it is absent. `path` is a JSON pointer.
pub fn text(value: &Value, path: &str) -> String {
    match value.pointer(path) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The members of an array, none when it is absent.
pub fn items<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of an array, with commas between them.
pub fn joined(value: &Value, path: &str) -> String {
    items(value, path).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}
