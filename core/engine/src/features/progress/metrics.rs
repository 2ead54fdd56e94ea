//! Figures of progress and checkpoints: `ojs.progress.*` (extensions section 20).
use std::fmt;

use ojs_model::Timestamp;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::metrics::figures::{Histogram, write};

/// Bytes of a checkpoint, up to the limit.
const SIZES: &[f64] = &[64.0, 256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0];

/// What this process has seen since it started.
#[derive(Debug)]
pub(crate) struct ProgressFigures {
    updates: u64,
    /// The running second, reports in it, and reports in the second before.
    pace: (i64, u64, u64),
    sizes: Histogram,
}

impl Default for ProgressFigures {
    fn default() -> Self {
        Self { updates: 0, pace: (0, 0, 0), sizes: Histogram::new(SIZES) }
    }
}

impl ProgressFigures {
    /// A report came.
    pub fn reported(&mut self, now: Timestamp) {
        self.updates += 1;
        self.turn(now);
        self.pace.1 += 1;
    }

    /// A checkpoint of so many bytes was saved.
    pub fn checkpointed(&mut self, bytes: usize) {
        self.sizes.add(bytes as f64);
    }

    /// Goes on to the second of a time.
    fn turn(&mut self, now: Timestamp) {
        let second = now.as_millis().div_euclid(1000);
        let (last, count, _) = self.pace;
        if second != last {
            self.pace = (second, 0, if second == last + 1 { count } else { 0 });
        }
    }

    pub fn write(&mut self, encoder: &mut DescriptorEncoder<'_>, now: Timestamp, stalled: usize) -> fmt::Result {
        self.turn(now);
        let help = "Reports of progress, those included that were not written one by one";
        let mut updates = encoder.encode_descriptor("ojs_progress_updates", help, None, MetricType::Counter)?;
        updates.encode_counter::<NoLabelSet, _, u64>(&self.updates, None)?;
        let help = "Reports of progress in the latest whole second";
        encoder
            .encode_descriptor("ojs_progress_update_rate", help, None, MetricType::Gauge)?
            .encode_gauge(&gauge(self.pace.2))?;
        let help = "Active jobs that have reported progress and then nothing for a minute";
        let stalled = gauge(stalled as u64);
        encoder.encode_descriptor("ojs_progress_stalled_jobs", help, None, MetricType::Gauge)?.encode_gauge(&stalled)?;
        let help = "Size of saved checkpoints";
        let mut sizes = encoder.encode_descriptor("ojs_progress_checkpoint_size_bytes", help, None, MetricType::Histogram)?;
        write(&mut sizes, &self.sizes)
    }
}

fn gauge(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
