//! Takes a version out of the rules of its job type when too many of its attempts fail (extensions section 14, canary).
//!
//! Attempts are counted in parts of the time that is looked at, in the transaction that ends them, and judged in the
//! same one: the jobs that are enqueued after the failure that was one too many get another version.
use ojs_model::{Timestamp, json as text};
use serde_json::json;

use crate::error::{Applied, StoreError};
use crate::features::versions::records::TallyRow;
use crate::features::versions::rollback::{WINDOW, rate, rollback_of, rolled_back};
use crate::features::versions::routing::{Rule, rules_of};
use crate::kernel::job::JobRow;
use crate::kernel::transaction::Transaction;

/// Parts of the time that is looked at.
const PARTS: i64 = 10;

/// The rule of a version that may be taken out: not the one with the largest weight, which all others are compared
/// with and which gets their jobs.
fn candidate(rules: &[Rule], version: i64) -> Option<usize> {
    let largest = rules.iter().map(|rule| rule.weight).max()?;
    let stable = rules.iter().position(|rule| rule.weight == largest)?;
    rules.iter().enumerate().position(|(place, rule)| place != stable && rule.weight > 0 && rule.number() == Some(version))
}

impl Transaction<'_> {
    /// Counts an attempt of a job with a version, if the rules of its type may lose that version.
    pub(crate) fn count_attempt(&mut self, row: &JobRow, failed: bool) -> Result<(), StoreError> {
        if !self.tables.has_routes()? {
            return Ok(());
        }
        let job_type = self.tables.job_type_name(row.job_type_id)?;
        let Some(route) = self.tables.route(&job_type)?.filter(|route| !route.rollback.is_empty()) else { return Ok(()) };
        // Rules that cannot be read are a fault of enqueues, not of attempts.
        if rules_of(&route).is_ok_and(|rules| candidate(&rules, row.version).is_some()) {
            let counts = self.features.attempts.entry((job_type, row.version)).or_default();
            *counts = (counts.0 + 1, counts.1 + i64::from(failed));
        }
        Ok(())
    }

    /// Adds up the attempts of this transaction, and takes out the versions of which too many failed.
    pub(crate) fn judge_versions(&mut self) -> Result<(), StoreError> {
        let now = self.now.as_millis();
        for ((job_type, version), (attempts, failed)) in std::mem::take(&mut self.features.attempts) {
            let Some(route) = self.tables.route(&job_type)? else { continue };
            let Ok(Some(rollback)) = rollback_of(&route) else { continue };
            let part = rollback.window_ms / PARTS;
            let since = now - now.rem_euclid(part);
            self.tables.add_attempts(&TallyRow { job_type: job_type.to_string(), version, since, attempts, failed })?;
            if failed == 0 {
                continue;
            }
            let (attempts, failed) = self.tables.attempts_since(&job_type, version, since - (PARTS - 1) * part)?;
            if rollback.decides(attempts, failed) {
                self.roll_back(&job_type, version, attempts, failed)?;
            }
        }
        Ok(())
    }

    /// Takes a version out of the rules of its type; nothing when another transaction has done it.
    fn roll_back(&mut self, job_type: &str, version: i64, attempts: i64, failed: i64) -> Result<(), StoreError> {
        let Some(mut row) = self.tables.hold_route(job_type)? else { return Ok(()) };
        let mut rules = rules_of(&row)?;
        let Some(rule) = candidate(&rules, version).and_then(|place| rules.get_mut(place)) else { return Ok(()) };
        rule.weight = 0;
        let rate = rate(attempts, failed);
        let mut entries = rolled_back(&row)?;
        let at = Timestamp::from_millis(self.now.as_millis()).to_string();
        entries.push(json!({
            "version": rule.version, "rolled_back_at": at, "error_rate": rate, "attempts": attempts, "failed": failed,
        }));
        let mut extra = String::new();
        text::push_text(&mut extra, "job_type", job_type);
        text::push_member(&mut extra, "version", &rule.version.to_string());
        text::push_bare(&mut extra, "error_rate", rate);
        text::push_bare(&mut extra, "attempts", attempts);
        text::push_bare(&mut extra, "failed", failed);
        tracing::warn!(job_type, version = %rule.version, attempts, failed, "too many attempts failed: no more jobs get this version");
        row.rules = json!(rules).to_string();
        row.rolled_back = json!(entries).to_string();
        self.tables.put_route(&row)?;
        self.journal.other("routing.rolled_back", self.now, job_type, &extra);
        Ok(())
    }

    /// Forgets attempts that no rule looks at any more.
    pub(crate) fn forget_old_attempts(&mut self) -> Applied<bool> {
        let before = self.now.as_millis() - 2 * WINDOW.end();
        self.tables.forget_attempts_before(before)?;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(weights: &[u64]) -> Vec<Rule> {
        weights.iter().enumerate().map(|(index, weight)| Rule { version: json!(index + 1), weight: *weight }).collect()
    }

    #[test]
    fn the_version_with_the_largest_weight_stays() {
        let number = |version: &str| Rule { version: json!(version), weight: 1 }.number().unwrap();
        let all = rules(&[5, 95, 95, 0]);
        assert_eq!(candidate(&all, number("1")), Some(0));
        assert_eq!(candidate(&all, number("1.0")), Some(0), "the same version");
        assert_eq!(candidate(&all, number("2")), None, "the first of the largest");
        assert_eq!(candidate(&all, number("3")), Some(2));
        assert_eq!(candidate(&all, number("4")), None, "it gets no jobs");
        assert_eq!(candidate(&all, number("5")), None);
        assert_eq!(candidate(&rules(&[1]), number("1")), None, "jobs need one version");
    }
}
