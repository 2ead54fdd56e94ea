//! The `ojs` command.
fn main() {}
