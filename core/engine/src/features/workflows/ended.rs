//! Steps whose jobs have ended in this transaction and whose workflows are to move on.
use std::collections::VecDeque;

use crate::kernel::job::JobRow;

/// The jobs, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(super) jobs: VecDeque<JobRow>,
}
