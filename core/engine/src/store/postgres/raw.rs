//! Jobs that an application inserted by plain SQL, in its own transaction.
use std::sync::Arc;

use super::PostgresTables;
use super::rows::{get, job_id};
use crate::error::Result;
use crate::store::rows::RawJob;

impl PostgresTables {
    /// Takes rows out; what becomes of them is stored by the same transaction.
    pub(super) fn take_raw_jobs(&mut self, count: usize, left_out: &[Arc<str>]) -> Result<Vec<RawJob>> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let left_out: Vec<&str> = left_out.iter().map(|name| &**name).collect();
        let mut found = Vec::new();
        for row in self.query(sql!("raw_jobs"), &[&count, &left_out])? {
            let seq: i64 = get(&row, 0)?;
            let job = RawJob {
                id: job_id(&row, 1)?,
                job_type: get(&row, 2)?,
                args: get(&row, 3)?,
                queue: get(&row, 4)?,
                meta: get(&row, 5)?,
                options: get(&row, 6)?,
            };
            found.push((seq, job));
        }
        // RETURNING promises no order.
        found.sort_by_key(|(seq, _)| *seq);
        Ok(found.into_iter().map(|(_, job)| job).collect())
    }
}
