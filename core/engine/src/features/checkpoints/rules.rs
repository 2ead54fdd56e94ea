//! Checkpoints: who may save one, its sequence, its delivery and its end (extensions section 21).
use ojs_model::{ErrorCode, JobId, JobState, OjsError};
use serde_json::json;

use crate::error::{Applied, StoreError};
use crate::features::checkpoints::answer;
use crate::features::checkpoints::commands::SaveCheckpoint;
use crate::features::checkpoints::records::{CheckpointRow, CheckpointTables as _};
use crate::kernel::job::{JobRow, JobView, flag};
use crate::kernel::transaction::Transaction;

impl Transaction<'_> {
    /// Saves a checkpoint. A save by the holder of the job renews its lease: it is a sign of life like a heartbeat.
    pub(crate) fn save_checkpoint(&mut self, save: &SaveCheckpoint) -> Applied<CheckpointRow> {
        let before = self.require(save.job)?;
        let claims_to_hold = save.lease.is_some() || save.worker.is_some();
        if claims_to_hold || save.strict || before.state == JobState::Active {
            self.check_holder(&before, save.lease, save.worker.as_deref())?;
        } else if before.state.is_terminal() {
            return Err(OjsError::wrong_state(before.id, before.state, "not completed, cancelled or discarded").into());
        }
        let known = if before.has(flag::CHECKPOINT) { self.tables.checkpoint(before.id)? } else { None };
        if let Some(known) = known.as_ref().filter(|known| save.sequence == Some(known.sequence) && known.state == save.state) {
            // The answer to the same save was lost on the wire.
            return Ok(known.clone());
        }
        let row = CheckpointRow {
            job: before.id,
            sequence: next_sequence(save.sequence, known.map_or(0, |known| known.sequence))?,
            state: save.state.clone(),
            created_at: self.now.as_millis(),
            by_report: save.by_report,
        };
        let mut after = before.clone();
        after.flags |= flag::CHECKPOINT | if save.strict { flag::CHECKPOINT_ENDS } else { 0 };
        if before.state == JobState::Active {
            self.renew(&mut after);
        }
        if after != before {
            self.tables.update(&before, &after)?;
        }
        self.tables.put_checkpoint(&row)?;
        let (attempt, sequence, bytes) = (after.attempt, row.sequence, row.state.len());
        self.emit("job.checkpointed", &after, &format!("\"attempt\":{attempt},\"sequence\":{sequence},\"size_bytes\":{bytes}"))?;
        Ok(row)
    }

    pub(crate) fn delete_checkpoint(&mut self, id: JobId) -> Applied<()> {
        let before = self.require(id)?;
        if before.has(flag::CHECKPOINT) {
            let flags = before.flags & !(flag::CHECKPOINT | flag::CHECKPOINT_ENDS);
            self.tables.delete_checkpoint(id)?;
            self.tables.update(&before, &JobRow { flags, ..before.clone() })?;
        }
        Ok(())
    }

    /// Adds the checkpoint to a job that is handed out.
    pub(crate) fn deliver_checkpoint(&mut self, job: &mut JobView) -> Result<(), StoreError> {
        if job.row.has(flag::CHECKPOINT)
            && let Some(row) = self.tables.checkpoint(job.row.id)?
        {
            answer::push_delivery(&mut job.delivered, &row);
        }
        Ok(())
    }

    /// Removes the checkpoint of a job that ends, where that is wanted. Otherwise it can be read as long as the job.
    pub(crate) fn end_checkpoint(&mut self, after: &JobRow) -> Result<(), StoreError> {
        let ends = after.has(flag::CHECKPOINT_ENDS) && after.state.is_terminal();
        if ends { self.tables.delete_checkpoint(after.id) } else { Ok(()) }
    }

    /// Removes the checkpoint of a job that is removed.
    pub(crate) fn erase_checkpoint(&mut self, row: &JobRow) -> Result<(), StoreError> {
        if row.has(flag::CHECKPOINT) { self.tables.delete_checkpoint(row.id) } else { Ok(()) }
    }
}

/// The number of a checkpoint that follows another one; 0 when there is none.
fn next_sequence(wanted: Option<i64>, before: i64) -> Result<i64, OjsError> {
    match wanted {
        None => Ok(before.saturating_add(1)),
        Some(sequence) if sequence > before => Ok(sequence),
        Some(sequence) => {
            let message =
                format!("sequence must be larger than that of the saved checkpoint, which is {before}; got {sequence}.");
            let details = json!({"reason": "stale_sequence", "field": "sequence", "current_sequence": before});
            let hint = "Read the checkpoint: another attempt, or another request of this one, has saved meanwhile.";
            Err(OjsError::new(ErrorCode::Conflict, message).with_details(details).with_hint(hint))
        }
    }
}
