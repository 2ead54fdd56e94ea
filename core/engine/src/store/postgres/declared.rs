//! Declared tables in a database: finds the existing ones, and adds the missing ones when a node starts.

use ojs_model::lazy::Lazy;

use super::connection::{Ask, Db};
use super::rows::get;
use crate::error::Result;
use crate::features::TABLES;
use crate::store::record::Table;
use crate::store::record::schema::{Found, FoundColumn, FoundIndex, missing};
use crate::store::record::text::{Dialect, prefix};

/// Empties all of them.
pub static TRUNCATE: Lazy<String> = Lazy::new(|| {
    let names: Vec<String> = TABLES.iter().map(|table| format!("{}{}", prefix(Dialect::Postgres), table.name)).collect();
    format!("TRUNCATE {}", names.join(", "))
});

/// Statements for what a database lacks of the declared tables.
pub fn lacking(db: &mut Db) -> Result<Vec<String>> {
    let found = found(db, &TABLES)?;
    Ok(TABLES.iter().zip(&found).flat_map(|(table, found)| missing(Dialect::Postgres, table, found)).collect())
}

/// Tables as the database has them, in the order asked for.
pub fn found(db: &mut Db, tables: &[&Table]) -> Result<Vec<Found>> {
    let names: Vec<String> = tables.iter().map(|table| format!("{}{}", prefix(Dialect::Postgres), table.name)).collect();
    let answers = db.ask(None, &[Ask::new(sql!("found_columns"), &[&names]), Ask::new(sql!("found_indexes"), &[&names])])?;
    let mut found = vec![Found::default(); tables.len()];
    let [columns, indexes] = answers.as_slice() else { return Ok(found) };
    let place = |name: &str| names.iter().position(|own| own == name);
    for row in &columns.rows {
        let column = FoundColumn { name: get(row, 1)?, kind: get(row, 2)?, optional: get(row, 3)?, has_default: get(row, 4)? };
        if let Some(found) = place(get(row, 0)?).and_then(|place| found.get_mut(place)) {
            found.columns.push(column);
        }
    }
    for row in &indexes.rows {
        let index = FoundIndex { columns: get(row, 1)?, unique: get(row, 2)?, partial: get(row, 3)? };
        if let Some(found) = place(get(row, 0)?).and_then(|place| found.get_mut(place)) {
            found.indexes.push(index);
        }
    }
    Ok(found)
}
