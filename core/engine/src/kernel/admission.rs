//! What features have said to jobs that are to be stored.
use std::sync::Arc;

use ojs_model::NewJob;

use crate::kernel::job::JobRow;
use crate::kernel::placed::Pressure;

/// What they have said.
#[derive(Debug, Default)]
pub struct Admission {
    /// The jobs with defaults of their queues, when any has some.
    pub filled: Option<Vec<Arc<NewJob>>>,
    /// Warnings for the answer, each with the place of its job.
    pub warnings: Vec<(usize, String)>,
    /// Jobs that make room, once the new ones are stored.
    pub victims: Vec<JobRow>,
    /// How full the queues are then, by name.
    pub pressure: Vec<(Arc<str>, Pressure)>,
    /// Storing the jobs makes a queue or a job type, or changes a limit: what is refused after that must be found before it.
    pub makes_more: bool,
}
