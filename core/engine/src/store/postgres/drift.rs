//! Compares the schema of a database with the one that the migrations of this program make.
use std::collections::BTreeMap;

use super::connection::{Ask, Db};
use super::rows::get;
use super::{declared, migrations};
use crate::error::Result;
use crate::store::schema::Remark;

/// Compares a database with the migrations and the declared tables.
///
/// # Errors
/// When it cannot be asked.
pub fn look(db: &mut Db) -> Result<Vec<Remark>> {
    if migrations::current(db)? != migrations::newest() {
        return Ok(Vec::new());
    }
    let answers = db.ask(None, &[Ask::new(sql!("checkup_defined"), &[])])?;
    let mut there: BTreeMap<String, bool> = BTreeMap::new();
    for row in answers.iter().flat_map(|answer| &answer.rows) {
        there.insert(get(row, 0)?, get(row, 1)?);
    }
    let wanted = defined();
    let (mut differences, mut statements) = (Vec::new(), Vec::new());
    for (name, statement) in &wanted {
        match there.get(name) {
            None => {
                differences.push(format!("{name} is missing"));
                statements.push(format!("{statement};"));
            }
            Some(false) => {
                differences.push(format!("index {name} is invalid"));
                statements.push(format!("REINDEX INDEX CONCURRENTLY {name};"));
            }
            Some(true) => {}
        }
    }
    for statement in declared::lacking(db)? {
        differences.push(format!("lacks `{statement}`"));
        statements.push(format!("{statement};"));
    }
    if differences.is_empty() {
        let count = wanted.len();
        return Ok(vec![Remark::fine("drift", format!("{count} tables, indexes and functions are as this program makes them"))]);
    }
    Ok(vec![Remark::wrong("drift", differences.join("; ")).cleared_by(statements.join(" "))])
}

/// What the migrations leave, each with the statement that makes it, by name.
fn defined() -> BTreeMap<String, String> {
    let mut defined = BTreeMap::new();
    for statement in migrations::statements() {
        let words: Vec<&str> = statement.split_whitespace().collect();
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let kind = upper.iter().position(|word| KINDS.contains(&word.as_str()));
        let (Some(first), Some(kind)) = (upper.first(), kind) else { continue };
        let mut rest = words.iter().zip(&upper).skip(kind + 1).skip_while(|(_, word)| MODIFIERS.contains(&word.as_str()));
        match first.as_str() {
            "CREATE" => {
                if let Some((name, _)) = rest.next() {
                    defined.insert(bare(name), statement.clone());
                }
            }
            "DROP" => rest.flat_map(|(names, _)| names.split(',')).for_each(|name| {
                defined.remove(&bare(name));
            }),
            _ => {}
        }
    }
    defined
}

/// What is looked for.
const KINDS: &[&str] = &["TABLE", "INDEX", "VIEW", "FUNCTION", "SEQUENCE"];
/// Words between the kind and the name.
const MODIFIERS: &[&str] = &["IF", "NOT", "EXISTS", "CONCURRENTLY", "ONLY"];

/// `ojs_jobs(` is `ojs_jobs`.
fn bare(name: &str) -> String {
    name.split(['(', ';', ',']).next().unwrap_or_default().trim_matches('"').to_owned()
}
