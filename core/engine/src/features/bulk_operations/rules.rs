//! Operations begin, are told to pause, to resume and to end, and are forgotten.
use ojs_model::json::{push_bare, push_text};
use ojs_model::{ErrorCode, JobId, OjsError};
use serde_json::json;

use super::commands::{Word, unknown};
use super::records::{KEEP_MS, MAX_OPEN, MAX_OPEN_IN_ALL, OperationRow, OperationState, OperationTables as _};
use crate::error::Applied;
use crate::kernel::scope::UNKNOWN;
use crate::kernel::transaction::Transaction;
use crate::kernel::wake::Signal;
use crate::store::record::Read;

impl Transaction<'_> {
    /// Stores a new operation. Its times are those of the transaction.
    pub(crate) fn create_operation(&mut self, new: &OperationRow) -> Applied<OperationRow> {
        let open = self.tables.open_operations()?;
        let own = open.iter().filter(|row| row.tenant == new.tenant).count();
        if own >= MAX_OPEN || open.len() >= MAX_OPEN_IN_ALL {
            return Err(too_many(own).into());
        }
        let now = self.now.as_millis();
        let row = OperationRow { created_at: now, open_at: now, updated_at: now, ..new.clone() };
        self.tables.put_operation(&row)?;
        self.signals.push(Signal::Operations);
        self.emit_operation("started", &row)?;
        Ok(row)
    }

    /// Carries out what an operator says. What is as wanted already stays as it is.
    pub(crate) fn direct_operation(&mut self, id: JobId, word: Word) -> Applied<OperationRow> {
        let row = self.tables.operation(id, Read::Held)?.filter(|row| row.is_seen(&self.tables.names().scope));
        let mut row = row.ok_or_else(|| unknown(id))?;
        let (wanted, event) = match word {
            Word::Pause => (OperationState::Paused, "paused"),
            Word::Resume => (OperationState::Running, "resumed"),
            Word::Cancel => (OperationState::Cancelled, "cancelled"),
        };
        if row.state == wanted {
            return Ok(row);
        }
        let ended = matches!(row.state, OperationState::Completed | OperationState::Cancelled);
        if ended || (word == Word::Pause && row.state == OperationState::Failed) {
            return Err(ended_before(&row, wanted).into());
        }
        self.turn_operation(&mut row, wanted);
        self.tables.put_operation(&row)?;
        self.emit_operation(event, &row)?;
        Ok(row)
    }

    /// Moves an operation to a state; the caller writes it.
    pub(crate) fn turn_operation(&mut self, row: &mut OperationRow, state: OperationState) {
        let now = self.now.as_millis();
        let is_open = matches!(state, OperationState::Running | OperationState::Paused);
        (row.state, row.updated_at) = (state, now);
        (row.open_at, row.finished_at) = if is_open { (row.created_at, 0) } else { (0, now) };
        if state != OperationState::Running {
            (row.holder, row.lease_until) = (None, 0);
        }
        if state != OperationState::Failed {
            row.fault = None;
        }
        self.signals.push(Signal::Operations);
        self.signals.push(Signal::Operation(row.id));
    }

    /// Notes `bulk.operation.started` and the like.
    pub(crate) fn emit_operation(&mut self, event: &str, row: &OperationRow) -> Applied<()> {
        let tenant = match row.of_one() {
            Some(id) => self.tables.tenant_wanted(id)?,
            None => 0,
        };
        if tenant == UNKNOWN {
            // A tenant without a job has no number yet, and an event without one would be seen by others.
            return Ok(());
        }
        let mut extra = String::new();
        push_text(&mut extra, "operation_id", &row.id.to_string());
        push_text(&mut extra, "action", row.action.verb());
        push_text(&mut extra, "state", row.state.as_str());
        push_bare(&mut extra, "seen", row.seen);
        push_bare(&mut extra, "changed", row.changed);
        push_bare(&mut extra, "refused", row.refused);
        if let Some(key) = &row.created_by {
            push_text(&mut extra, "created_by", key);
        }
        self.journal.of_tenant(tenant, &format!("bulk.operation.{event}"), self.now, &row.id.to_string(), &extra);
        Ok(())
    }

    /// Removes operations that ended long ago.
    pub(crate) fn prune_operations(&mut self) -> Applied<bool> {
        self.tables.forget_operations(self.now.as_millis().saturating_sub(KEEP_MS))?;
        Ok(false)
    }
}

fn too_many(own: usize) -> OjsError {
    let message = format!("{own} bulk operations have not ended; at most {MAX_OPEN} may be under way or paused.");
    OjsError::new(ErrorCode::Conflict, message)
        .with_details(json!({"reason": "too_many_operations", "max_operations": MAX_OPEN}))
        .with_hint("Wait until some have ended, or cancel those that are paused.")
}

fn ended_before(row: &OperationRow, wanted: OperationState) -> OjsError {
    let message = format!("Bulk operation '{}' is {} and cannot become {}.", row.id, row.state.as_str(), wanted.as_str());
    OjsError::new(ErrorCode::Conflict, message).with_details(json!({
        "operation_id": row.id.to_string(), "reason": "invalid_state_transition", "state": row.state.as_str(),
    }))
}
