//! The answers of features to jobs that are about to be stored.
use std::sync::Arc;

use ojs_model::NewJob;

use crate::kernel::job::JobRow;
use crate::kernel::placed::Pressure;

/// These answers, collected for one enqueue.
#[derive(Debug, Default)]
pub struct Admission {
    /// The jobs with the defaults of their queues filled in; `None` when no queue has defaults.
    pub filled: Option<Vec<Arc<NewJob>>>,
    /// Warnings for the answer, each with the place of its job.
    pub warnings: Vec<(usize, String)>,
    /// Jobs that the new ones replace; they are withdrawn after the new ones are stored.
    pub victims: Vec<JobRow>,
    /// Number of jobs in each limited queue after the enqueue, by name.
    pub pressure: Vec<(Arc<str>, Pressure)>,
    /// Queues that have more jobs than their warning threshold only with the new ones.
    pub crossed: Vec<Arc<str>>,
    /// Storing the jobs also creates a queue or a job type, or changes a limit. Every reason for a refusal must then be
    /// found before.
    pub makes_more: bool,
}
