//! What features keep for the length of one transaction.
use crate::features::limits::gate::Gates;
use crate::features::workflows::ended::Ended;

/// One member per feature that keeps anything.
#[derive(Debug, Default)]
pub struct State {
    pub(crate) limits: Gates,
    pub(crate) workflows: Ended,
}
