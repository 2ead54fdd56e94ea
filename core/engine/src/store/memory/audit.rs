//! The audit of the memory store: compares each ordered set with the jobs.
use std::collections::BTreeMap;
use std::fmt::Debug;

use ojs_model::JobId;

use super::MemoryTables;
use crate::error::Result;
use crate::kernel::finding::{AuditTables, Finding, StoreAudit};

impl AuditTables for MemoryTables {
    fn audit(&mut self, most: usize) -> Result<StoreAudit> {
        let mut right = Self::default();
        let mut keys: BTreeMap<&[u8], Vec<JobId>> = BTreeMap::new();
        for stored in self.jobs.values() {
            right.index(&stored.row);
            right.ids.insert(stored.row.id, stored.row.seq);
            if let Some(key) = &stored.unique {
                right.uniques.entry(*key).or_default().insert(stored.row.seq);
                if !stored.row.state.is_terminal() {
                    keys.entry(key.as_bytes()).or_default().push(stored.row.id);
                }
            }
        }
        let mut said = StoreAudit::default();
        let mut compare = |name: &str, expected: &dyn Debug, found: &dyn Debug, same: bool| {
            if !same {
                let shown = |set: &dyn Debug| format!("{set:?}").chars().take(200).collect();
                let (subject, what) = (format!("the set `{name}`"), "its entries".to_owned());
                said.findings.push(Finding { check: "indexes", subject, what, expected: shown(expected), found: shown(found) });
            }
        };
        compare("ready", &right.ready, &self.ready, right.ready == self.ready);
        compare("versions", &right.versions, &self.versions, right.versions == self.versions);
        compare("fair", &right.fair, &self.fair, right.fair == self.fair);
        compare("due", &right.due, &self.due, right.due == self.due);
        compare("leases", &right.leases, &self.leases, right.leases == self.leases);
        compare("expiring", &right.expiring, &self.expiring, right.expiring == self.expiring);
        compare("dead", &right.dead, &self.dead, right.dead == self.dead);
        compare("keys", &right.keys, &self.keys, right.keys == self.keys);
        compare("ids", &right.ids.len(), &self.ids.len(), right.ids == self.ids);
        compare("uniques", &right.uniques.len(), &self.uniques.len(), right.uniques == self.uniques);
        let pairs = keys.values().flat_map(|ids| ids.windows(2)).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
        said.same_key = pairs.take(most).collect();
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ojs_model::{NewJob, Timestamp};

    use crate::kernel::audit;
    use crate::kernel::counters::Counters;
    use crate::kernel::job::JobRow;
    use crate::kernel::transaction::Transaction;
    use crate::store::memory::MemoryTables;

    /// Puts a set out of step with the jobs.
    type Damage = fn(&mut MemoryTables);

    #[test]
    fn a_set_that_differs_from_the_jobs_is_found() {
        let (mut tables, mut counters) = (MemoryTables::default(), Counters::with(&crate::features::HOOKS));
        let now = Timestamp::from_millis(1_767_225_600_000);
        let job = NewJob::parse(r#"{"type":"t","args":[],"options":{"unique":{}}}"#, now).unwrap();
        let mut transaction = Transaction::new(&mut tables, &mut counters, now);
        drop(transaction.enqueue(&[Arc::new(job)]).unwrap());
        transaction.finish().unwrap();
        assert_eq!(audit::run(&mut tables, &[]).unwrap().findings, []);
        let damages: [(&str, Damage); 10] = [
            ("ready", |tables| tables.ready.clear()),
            ("versions", |tables| _ = tables.versions.insert((1, 1, 1, 1, 1, 1))),
            ("fair", |tables| _ = tables.fair.insert((1, 1, 1, 1, 1))),
            ("due", |tables| _ = tables.due.insert((1, 1))),
            ("leases", |tables| _ = tables.leases.insert((1, 1))),
            ("expiring", |tables| _ = tables.expiring.insert((1, 1))),
            ("dead", |tables| _ = tables.dead.insert((1, 1))),
            ("keys", |tables| {
                let row = tables.jobs.values().next().map(|stored| JobRow { limit: 7, ..stored.row.clone() });
                tables.keys.index(&row.unwrap());
            }),
            ("ids", |tables| tables.ids.clear()),
            ("uniques", |tables| tables.uniques.clear()),
        ];
        for (name, damage) in damages {
            let subject = format!("the set `{name}`");
            let is_found = |tables: &mut MemoryTables| {
                audit::run(tables, &[]).unwrap().findings.iter().any(|found| found.subject == subject)
            };
            assert!(!is_found(&mut tables), "{name} before it was damaged");
            damage(&mut tables);
            assert!(is_found(&mut tables), "{name}");
        }
    }
}
