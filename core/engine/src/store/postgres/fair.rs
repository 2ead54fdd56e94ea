//! Lines of keys in PostgreSQL.
use super::connection::Ask;
use super::params::Param;
use super::rows::{get, read_whole};
use super::{PostgresTables, limit};
use crate::error::Result;
use crate::features::fair::records::{FairKey, FairTables};
use crate::kernel::job::{Body, JobRow};

impl FairTables for PostgresTables {
    fn fair_rank(&mut self, queue: i64, from: i32, to: i32) -> Result<Option<i32>> {
        self.flush()?;
        let rows = self.query(sql!("fair_rank"), &[&queue, &i64::from(from), &i64::from(to)])?;
        let rank: Option<i64> = rows.first().map_or(Ok(None), |row| get(row, 0))?;
        Ok(rank.and_then(|rank| i32::try_from(rank).ok()))
    }

    fn fair_keys(&mut self, queue: i64, rank: i32, after: i64, most: usize) -> Result<Vec<FairKey>> {
        self.flush()?;
        let rows = self.query(sql!("fair_keys"), &[&queue, &i64::from(rank), &after, &limit(most)])?;
        rows.iter().map(|row| Ok(FairKey { key: get(row, 0)?, tenant: get(row, 1)? })).collect()
    }
}

impl PostgresTables {
    /// Jobs at the heads of the lines of keys.
    pub(super) fn ready_of_keys(&mut self, queue: i64, rank: i32, wanted: &[(i64, usize)]) -> Result<Vec<(JobRow, Body)>> {
        self.flush()?;
        let bounds: Vec<[i64; 4]> = wanted.iter().map(|(key, most)| [queue, i64::from(rank), *key, limit(*most)]).collect();
        let asks: Vec<Ask<'_>> = bounds
            .iter()
            .map(|bounds| Ask::with(sql!("fair_ready"), bounds.iter().map(|bound| bound as &dyn Param).collect()))
            .collect();
        let answers = self.ask(&asks)?;
        answers.iter().flat_map(|answer| &answer.rows).map(read_whole).collect()
    }
}
