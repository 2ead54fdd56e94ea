//! The schema registry: what the arguments of a job type look like, version by version, and what happens to jobs that
//! do not match.
mod audit;
pub(crate) mod commands;
mod compatible_with;
mod compiled;
mod foresee;
mod json_schema;
pub mod records;
pub(crate) mod routes;
pub(crate) mod rules;

use crate::kernel::hooks::Feature;

/// Where it takes part in transactions.
pub(crate) const FEATURE: Feature = Feature {
    admit: Some(|transaction, jobs, admission| transaction.admit_by_schema(jobs, admission)),
    judge: Some(|transaction, job_type, envelope| transaction.judge_by_schema(job_type, envelope)),
    foresee: Some(foresee::foresee),
    audit: Some(audit::CHECKS),
    ..Feature::NONE
};
