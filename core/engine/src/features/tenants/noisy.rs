//! Tenants that use far more than the others do: noisy neighbours (extensions section 10).
//!
//! The figures are those that are counted anyway, so nothing is read of jobs. A tenant is compared with the others and
//! not with an average that it is part of: of five tenants, none can have more than five times the average of all.
use ojs_model::JobState;
use ojs_model::envelope::DEFAULT_TENANT;

use crate::error::{Applied, StoreError};
use crate::features::tenants::records::{Lately, TenantRow, Usage};
use crate::kernel::typed::Query;
use crate::store::rows::depth;
use crate::store::tables::Tables;

/// Share of attempts that must have failed before they are compared: a few failures beside none are no signal.
const LEAST_ERRORS: f64 = 0.05;

/// From when on a tenant is noisy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Its waiting jobs over the median of the others.
    pub depth: f64,
    /// Its jobs stored lately over the average of the others.
    pub rate: f64,
    /// Its active jobs over those of all tenants.
    pub active: f64,
    /// Its share of failed attempts over that of the others.
    pub errors: f64,
    /// Fewer waiting or lately stored jobs are no signal, nor is a tenth of that of active jobs and failed attempts:
    /// one job is infinitely more than none.
    pub least: f64,
}

impl Default for Thresholds {
    /// Those of the document.
    fn default() -> Self {
        Self { depth: 10.0, rate: 5.0, active: 0.5, errors: 3.0, least: 100.0 }
    }
}

/// What tells that a tenant is noisy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// Its name: `queue_depth_ratio`, `enqueue_rate_ratio`, `active_job_ratio` or `error_rate`.
    pub name: &'static str,
    /// What the tenant has.
    pub value: f64,
    /// What the others have; for `active_job_ratio`, what all have.
    pub others: f64,
    /// `value` is a signal when it is more than this times `others`.
    pub threshold: f64,
}

/// Figures of a tenant that has jobs or had some lately.
#[derive(Debug, Clone)]
pub struct Figures {
    /// The tenant.
    pub row: TenantRow,
    /// Jobs that wait.
    pub depth: f64,
    /// Jobs that are active.
    pub active: f64,
    /// Jobs stored, jobs completed, attempts failed lately.
    pub lately: Lately,
}

impl Figures {
    fn of(row: TenantRow, usage: &Usage, lately: Lately) -> Self {
        let active = usage.counts.get(JobState::Active as usize).copied().unwrap_or(0).max(0);
        Self { row, depth: depth(&usage.counts) as f64, active: active as f64, lately }
    }

    fn is_idle(&self) -> bool {
        self.depth + self.active + self.lately.iter().sum::<f64>() <= 0.0
    }

    /// Share of the attempts lately that failed; 0 when there were none.
    #[must_use]
    pub fn error_rate(&self) -> f64 {
        share(self.lately)
    }
}

fn share([_, processed, failed]: Lately) -> f64 {
    if failed > 0.0 { failed / (processed + failed) } else { 0.0 }
}

/// Tenants that show signals, and what they were compared with.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The tenants with signals, those with the most first.
    pub noisy: Vec<(Figures, Vec<Signal>)>,
    /// Tenants that have jobs, or had some lately.
    pub compared: usize,
}

/// Which tenants are noisy. The default tenant is not among them: what it has is not counted.
#[derive(Debug, Clone)]
pub struct FindNoisyTenants {
    /// The time, milliseconds.
    pub now: i64,
    /// What counts as noisy.
    pub thresholds: Thresholds,
}

impl Query for FindNoisyTenants {
    type Reply = Comparison;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Comparison> {
        Ok(compare(&figures(tables, self.now)?, &self.thresholds))
    }

    fn is_search(&self) -> bool {
        true
    }
}

/// What has happened lately to the jobs of a tenant; `None` for the default one.
#[derive(Debug, Clone)]
pub struct GetTenantPace {
    /// The tenant.
    pub id: String,
    /// The time, milliseconds.
    pub now: i64,
}

impl Query for GetTenantPace {
    type Reply = Option<Lately>;

    fn answer(&self, tables: &mut dyn Tables) -> Applied<Self::Reply> {
        if self.id == DEFAULT_TENANT {
            return Ok(None);
        }
        let Some(row) = tables.find_tenant(&self.id)? else { return Ok(None) };
        Ok(Some(tables.lately_of(row.num, self.now)?))
    }
}

fn figures(tables: &mut dyn Tables, now: i64) -> Result<Vec<Figures>, StoreError> {
    let mut found = Vec::new();
    for (num, (usage, lately)) in tables.all_paces(now)? {
        let Some(row) = tables.tenant(num)?.filter(|row| row.deleted_at == 0) else { continue };
        let figures = Figures::of(row, &usage, lately);
        if !figures.is_idle() {
            found.push(figures);
        }
    }
    Ok(found)
}

/// Compares each tenant with the others. A tenant without others is not noisy.
fn compare(all: &[Figures], thresholds: &Thresholds) -> Comparison {
    let mut depths: Vec<f64> = all.iter().map(|figures| figures.depth).collect();
    depths.sort_by(f64::total_cmp);
    let active = all.iter().map(|figures| figures.active).sum();
    let mut lately = Lately::default();
    for figures in all {
        lately.iter_mut().zip(figures.lately).for_each(|(sum, by)| *sum += by);
    }
    let whole = Whole { depths, active, lately };
    let mut noisy: Vec<(Figures, Vec<Signal>)> = Vec::new();
    if all.len() > 1 {
        let judged = all.iter().map(|figures| (figures, whole.signals(figures, thresholds)));
        noisy.extend(judged.filter(|(_, signals)| !signals.is_empty()).map(|(figures, signals)| (figures.clone(), signals)));
    }
    noisy.sort_by(|(one, signals), (other, others)| {
        let by_signals = others.len().cmp(&signals.len());
        by_signals.then_with(|| other.depth.total_cmp(&one.depth)).then_with(|| one.row.id.cmp(&other.row.id))
    });
    Comparison { noisy, compared: all.len() }
}

/// What all tenants have.
struct Whole {
    /// Waiting jobs of each, the fewest first.
    depths: Vec<f64>,
    active: f64,
    lately: Lately,
}

impl Whole {
    fn signals(&self, own: &Figures, thresholds: &Thresholds) -> Vec<Signal> {
        let [enqueued, _, failed] = own.lately;
        let mut others = self.lately;
        others.iter_mut().zip(own.lately).for_each(|(sum, by)| *sum = (*sum - by).max(0.0));
        let [enqueued_by_others, ..] = others;
        let average = enqueued_by_others / (self.depths.len().saturating_sub(1).max(1) as f64);
        let few = thresholds.least / 10.0;
        let errors = own.error_rate();
        let candidates = [
            ("queue_depth_ratio", own.depth, self.median_without(own.depth), thresholds.depth, own.depth >= thresholds.least),
            ("enqueue_rate_ratio", enqueued, average, thresholds.rate, enqueued >= thresholds.least),
            ("active_job_ratio", own.active, self.active, thresholds.active, own.active >= few),
            ("error_rate", errors, share(others), thresholds.errors, failed >= few && errors >= LEAST_ERRORS),
        ];
        let loud = candidates.into_iter().filter(|(_, value, others, threshold, enough)| *enough && *value > others * threshold);
        loud.map(|(name, value, others, threshold, _)| Signal { name, value, others, threshold }).collect()
    }

    /// The median of the depths of the other tenants.
    fn median_without(&self, own: f64) -> f64 {
        // Equal depths are interchangeable, so any of them is this tenant's.
        let place = self.depths.partition_point(|depth| *depth < own);
        let at = |nth: usize| self.depths.get(if nth < place { nth } else { nth + 1 }).copied().unwrap_or(0.0);
        let others = self.depths.len().saturating_sub(1);
        if others % 2 == 1 { at(others / 2) } else { f64::midpoint(at((others / 2).saturating_sub(1)), at(others / 2)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::tenants::records::{CountRow, PERIOD};

    fn tenant(id: &str, depth: f64, active: f64, lately: Lately) -> Figures {
        Figures { row: TenantRow::fresh(id, 0), depth, active, lately }
    }

    fn found(all: &[Figures]) -> Vec<(String, Vec<&'static str>)> {
        let noisy = compare(all, &Thresholds::default()).noisy.into_iter();
        noisy.map(|(figures, signals)| (figures.row.id.to_string(), signals.iter().map(|signal| signal.name).collect())).collect()
    }

    #[test]
    fn each_signal_begins_above_its_threshold() {
        let others = [tenant("b", 20.0, 5.0, [30.0, 100.0, 5.0]), tenant("c", 20.0, 5.0, [30.0, 100.0, 5.0])];
        let with = |own: Figures| found(&[others.to_vec(), vec![own]].concat());
        let quiet = tenant("a", 200.0, 10.0, [150.0, 85.0, 14.0]);
        assert_eq!(with(quiet.clone()), [], "at the thresholds, and not above");
        let loud = |name| vec![("a".to_owned(), vec![name])];
        assert_eq!(with(Figures { depth: 201.0, ..quiet.clone() }), loud("queue_depth_ratio"));
        assert_eq!(with(Figures { lately: [151.0, 85.0, 14.0], ..quiet.clone() }), loud("enqueue_rate_ratio"));
        assert_eq!(with(Figures { active: 11.0, ..quiet.clone() }), loud("active_job_ratio"));
        assert_eq!(with(Figures { lately: [150.0, 80.0, 20.0], ..quiet.clone() }), loud("error_rate"));
        assert_eq!(found(&[tenant("a", 1e6, 1e6, [1e6; 3])]), [], "there is no other");
    }

    #[test]
    fn a_few_jobs_beside_none_are_no_signal() {
        let idle = |id| tenant(id, 0.0, 1.0, [0.0; 3]);
        assert_eq!(found(&[tenant("a", 99.0, 9.0, [99.0, 0.0, 9.0]), idle("b"), idle("c")]), []);
        assert_eq!(found(&[tenant("a", 100.0, 1.0, [0.0; 3]), idle("b")]), [("a".to_owned(), vec!["queue_depth_ratio"])]);
        assert_eq!(found(&[tenant("a", 0.0, 1.0, [0.0, 4e3, 100.0]), idle("b")]), [], "two failures of a hundred attempts");
    }

    #[test]
    fn the_median_is_that_of_the_others() {
        let whole = |depths: &[f64]| Whole { depths: depths.to_vec(), active: 0.0, lately: [0.0; 3] };
        assert_eq!(whole(&[1.0, 2.0, 9.0]).median_without(9.0), 1.5);
        assert_eq!(whole(&[1.0, 2.0, 9.0]).median_without(1.0), 5.5);
        assert_eq!(whole(&[1.0, 2.0, 3.0, 9.0]).median_without(9.0), 2.0);
        assert_eq!(whole(&[4.0, 4.0]).median_without(4.0), 4.0);
    }

    #[test]
    fn the_noisiest_tenant_comes_first() {
        let all = [
            tenant("a", 500.0, 0.0, [0.0; 3]),
            tenant("b", 400.0, 30.0, [0.0; 3]),
            tenant("c", 0.0, 1.0, [0.0; 3]),
            tenant("d", 1.0, 1.0, [0.0; 3]),
            tenant("e", 1.0, 1.0, [0.0; 3]),
        ];
        let order: Vec<String> = found(&all).into_iter().map(|(id, _)| id).collect();
        assert_eq!(order, ["b", "a"]);
    }

    #[test]
    fn the_last_five_minutes_slide() {
        let row = CountRow { period: 7, enqueued_now: 60, enqueued_before: 100, ..counted() };
        let [enqueued, ..] = row.lately(7 * PERIOD + PERIOD / 4);
        assert_eq!(enqueued, 60.0 + 75.0);
        assert_eq!(row.lately(8 * PERIOD + PERIOD / 2)[0], 30.0);
        assert_eq!(row.lately(9 * PERIOD)[0], 0.0);
        assert_eq!(row.lately(7 * PERIOD - 1)[0].round(), 60.0, "the clock of another node is behind");
    }

    fn counted() -> CountRow {
        CountRow::fresh(1, 1, 1)
    }
}
