//! The statements of an audit of the database.
use super::connection::Ask;
use super::rows::get;
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::kernel::finding::{AuditTables, Finding, SAME_KEY, StoreAudit, statements};

impl AuditTables for PostgresTables {
    fn audit(&mut self, most: usize) -> Result<StoreAudit> {
        self.flush()?;
        let mut said = StoreAudit::default();
        for statement in statements(sql!("audit")) {
            let answers = self.ask(&[Ask::once(statement.sql, &[&limit(most)])])?;
            for row in answers.iter().flat_map(|answer| &answer.rows) {
                let (subject, expected, found): (String, String, String) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
                if statement.check == SAME_KEY {
                    said.same_key.extend(subject.parse().ok().zip(expected.parse().ok()));
                } else {
                    let (check, what) = (statement.check, statement.what.to_owned());
                    said.findings.push(Finding { check, subject, what, expected, found });
                }
            }
        }
        Ok(said)
    }
}
