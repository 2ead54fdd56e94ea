//! The way of a report through the process: onto the board, and from there into the store.
use std::time::Duration;

use futures_util::future::join_all;
use ojs_model::{JobId, JobState};

use crate::engine::Engine;
use crate::error::{Applied, Refusal};
use crate::features::checkpoints::commands::SaveCheckpoint;
use crate::features::progress::board::{Due, Placed};
use crate::features::progress::commands::{Proof, ReportProgress};
use crate::features::progress::records::{ProgressRow, Report};

/// How often the board is looked at while reports are on it.
const LOOK: Duration = Duration::from_millis(250);

impl Engine {
    /// Takes in a report; the state and the progress of the job then.
    pub(crate) async fn report_progress(
        &self,
        job: JobId,
        proof: Proof,
        report: Report,
        checkpoint: Option<SaveCheckpoint>,
    ) -> Applied<(JobState, Option<ProgressRow>)> {
        self.metrics().reported(self.now());
        let now = self.now().as_millis();
        let due = match self.progress().place(job, &proof, report, now) {
            Placed::Kept(row) if checkpoint.is_none() => {
                self.serve_progress();
                return Ok((JobState::Active, Some(row)));
            }
            Placed::Kept(row) => Due::now(job, proof, row.report()),
            Placed::Due(due) => due,
        };
        self.write_report(&due, checkpoint).await
    }

    async fn write_report(&self, due: &Due, checkpoint: Option<SaveCheckpoint>) -> Applied<(JobState, Option<ProgressRow>)> {
        let report = ReportProgress {
            job: due.job,
            proof: due.proof.clone(),
            report: due.report.clone(),
            earlier: due.earlier.clone(),
            checkpoint,
            accepted_under: due.lease,
        };
        let written = self.execute(report).await;
        match written {
            Ok(standing) => {
                let written = standing.progress.as_ref().filter(|_| standing.accepted);
                self.progress().wrote(due, written.map(|row| (row, standing.row.lease_ms)), self.now().as_millis());
                self.serve_progress();
                Ok((standing.state(), standing.progress))
            }
            Err(refusal) => {
                self.progress().failed(due, !matches!(refusal, Refusal::Store(_)));
                Err(refusal)
            }
        }
    }

    /// Writes reports whose time has come, or all. Each is a command of its own, so that a job that cannot be written
    /// does not keep others from it; the store commits them in groups.
    pub(crate) async fn write_progress(&self, everything: bool) {
        let due = self.progress().due(self.now().as_millis(), everything);
        let written = join_all(due.iter().map(|due| self.write_report(due, None))).await;
        for (due, refusal) in due.iter().zip(written).filter_map(|(due, written)| Some((due, written.err()?))) {
            tracing::warn!(job = %due.job, ?refusal, "a report of progress was not written");
        }
    }

    /// Starts the task that writes what is due, unless it runs. It ends with the engine, or when the board is empty.
    fn serve_progress(&self) {
        if self.is_stopping() || !self.progress().begins() {
            return;
        }
        // Of all tenants: the board has reports of others as well.
        let engine = self.of_all().downgrade();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(engine) = engine().filter(|engine| !engine.is_stopping()) else { return };
                engine.write_progress(false).await;
                if engine.progress().ends() {
                    return;
                }
            }
        });
    }
}
