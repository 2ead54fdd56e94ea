//! Workflows in memory.
use ojs_model::JobId;

use super::MemoryTables;
use crate::error::{Result, StoreError};
use crate::features::workflows::records::{StepRow, WorkflowFilter, WorkflowRow, WorkflowTables};

impl WorkflowTables for MemoryTables {
    fn insert_workflow(&mut self, row: &mut WorkflowRow) -> Result<bool> {
        if self.workflow(row.id)?.is_some() {
            return Ok(false);
        }
        row.num = self.workflows.keys().next_back().copied().unwrap_or(0) + 1;
        self.workflow_ids.insert(row.id, row.num);
        self.workflows.insert(row.num, row.clone());
        let (num, id) = (row.num, row.id);
        self.undo_by(move |tables| {
            tables.workflows.remove(&num);
            tables.workflow_ids.remove(&id);
        });
        Ok(true)
    }

    fn workflow(&mut self, id: JobId) -> Result<Option<WorkflowRow>> {
        Ok(self.workflow_ids.get(&id).and_then(|num| self.workflows.get(num)).cloned())
    }

    fn workflow_by_num(&mut self, num: i64) -> Result<Option<WorkflowRow>> {
        Ok(self.workflows.get(&num).cloned())
    }

    fn update_workflow(&mut self, row: &WorkflowRow) -> Result<()> {
        let known = self.workflows.get_mut(&row.num).ok_or_else(|| StoreError::Failed(format!("no workflow {}", row.num)))?;
        let before = std::mem::replace(known, row.clone());
        self.undo_by(move |tables| _ = tables.workflows.insert(before.num, before));
        Ok(())
    }

    fn put_step(&mut self, row: &StepRow) -> Result<()> {
        let place = (row.workflow, row.index);
        let before = self.steps.insert(place, row.clone());
        self.undo_by(move |tables| match before {
            Some(before) => _ = tables.steps.insert(place, before),
            None => _ = tables.steps.remove(&place),
        });
        Ok(())
    }

    fn step(&mut self, workflow: i64, index: i64) -> Result<Option<StepRow>> {
        Ok(self.steps.get(&(workflow, index)).cloned())
    }

    fn steps(&mut self, workflow: i64, from: i64) -> Result<Vec<StepRow>> {
        Ok(self.steps.range((workflow, from)..(workflow + 1, i64::MIN)).map(|(_, row)| row.clone()).collect())
    }

    fn list_workflows(&mut self, filter: &WorkflowFilter) -> Result<Vec<WorkflowRow>> {
        let wanted = |row: &&WorkflowRow| row.parent == 0 && filter.state.is_none_or(|state| state == row.state);
        Ok(self.workflows.values().rev().filter(wanted).skip(filter.offset).take(filter.limit + 1).cloned().collect())
    }

    fn prune_workflows(&mut self, before: i64, limit: usize) -> Result<()> {
        let ended = self.workflows.values().filter(|row| row.finished_at > 0 && row.finished_at < before);
        for (num, id) in ended.take(limit).map(|row| (row.num, row.id)).collect::<Vec<_>>() {
            let flow = self.workflows.remove(&num);
            self.workflow_ids.remove(&id);
            let rest = self.steps.split_off(&(num + 1, i64::MIN));
            let steps = self.steps.split_off(&(num, i64::MIN));
            self.steps.extend(rest);
            self.undo_by(move |tables| {
                tables.workflows.extend(flow.map(|flow| (num, flow)));
                tables.workflow_ids.insert(id, num);
                tables.steps.extend(steps);
            });
        }
        Ok(())
    }
}
