//! Lines of versions in memory.
use super::MemoryTables;
use crate::error::Result;
use crate::features::versions::records::VersionTables;
use crate::kernel::job::{Body, JobRow, Line};

impl VersionTables for MemoryTables {
    fn version_lines(&mut self, queue: i64) -> Result<Vec<Line>> {
        let mut lines = Vec::new();
        let mut from = (queue, i64::MIN, i64::MIN, i32::MIN, i64::MIN, i64::MIN);
        while let Some((_, job_type_id, version, ..)) = self.versions.range(from..).next().filter(|place| place.0 == queue) {
            lines.push(Line { queue, job_type_id: *job_type_id, version: *version, is_fair: false });
            from = (queue, *job_type_id, version + 1, i32::MIN, i64::MIN, i64::MIN);
        }
        Ok(lines)
    }
}

impl MemoryTables {
    /// Jobs at the heads of the lines of versions.
    pub(super) fn ready_of_versions(&self, lines: &[Line], limit: usize) -> Vec<(JobRow, Body)> {
        let mut found = Vec::new();
        for line in lines {
            let (from, to) = line.holds().ranks();
            let place = |rank| (line.queue, line.job_type_id, line.version, rank, i64::MIN, i64::MIN);
            let heads = self.versions.range(place(from)..place(to)).take(limit);
            let heads = heads.filter_map(|(.., seq)| self.jobs.get(seq));
            found.extend(heads.map(|stored| (stored.row.clone(), stored.body.clone())));
        }
        found
    }
}
