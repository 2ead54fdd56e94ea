//! Lines of versions in PostgreSQL.
use super::connection::Ask;
use super::params::Param;
use super::rows::{get, read_whole};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::versions::records::VersionTables;
use crate::kernel::job::{Body, JobRow, Line};

impl VersionTables for PostgresTables {
    fn version_lines(&mut self, queue: i64) -> Result<Vec<Line>> {
        self.flush()?;
        let rows = self.query(sql!("version_lines"), &[&queue])?;
        rows.iter().map(|row| Ok(Line { queue, job_type_id: get(row, 0)?, version: get(row, 1)?, is_fair: false })).collect()
    }
}

impl PostgresTables {
    /// Jobs at the heads of the lines of versions.
    pub(super) fn ready_of_versions(&mut self, lines: &[Line], most: usize) -> Result<Vec<(JobRow, Body)>> {
        // Some of the jobs that were read ahead may not be taken now: the next claim of this transaction reads them
        // anew, and so does the next transaction of this process.
        self.flush()?;
        for line in lines {
            self.unit_of_work.pools.remove(&line.queue);
        }
        self.node.lines().forget();
        let bounds: Vec<[i64; 6]> = lines
            .iter()
            .map(|line| {
                let (from, to) = line.holds().ranks();
                [line.queue, line.job_type_id, line.version, from.into(), to.into(), limit(most)]
            })
            .collect();
        let asks: Vec<Ask<'_>> = bounds
            .iter()
            .map(|bounds| Ask::with(sql!("version_ready"), bounds.iter().map(|bound| bound as &dyn Param).collect()))
            .collect();
        let answers = self.ask(&asks)?;
        answers.iter().flat_map(|answer| &answer.rows).map(read_whole).collect()
    }
}
