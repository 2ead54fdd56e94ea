//! Exact delivery: every enqueued job completed once, nothing else completed.
use crate::Result;
use crate::ids::Ids;

/// Counts completions per job.
pub struct Check {
    ids: Ids,
    seen: Vec<u8>,
    strangers: usize,
}

impl Check {
    /// For the jobs `0..expected` of this run.
    pub fn new(ids: Ids, expected: usize) -> Self {
        Self { ids, seen: vec![0; expected], strangers: 0 }
    }

    /// One completed job.
    pub fn completed(&mut self, id: &[u8]) {
        match self.ids.number(id).and_then(|n| self.seen.get_mut(n)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.strangers += 1,
        }
    }

    /// The verdict.
    pub fn finish(&self) -> Result<()> {
        let lost = self.seen.iter().filter(|n| **n == 0).count();
        let doubled = self.seen.iter().filter(|n| **n > 1).count();
        if lost + doubled + self.strangers == 0 {
            return Ok(());
        }
        Err(format!(
            "delivery check failed: {lost} lost, {doubled} delivered more than once, {} unknown, of {}",
            self.strangers,
            self.seen.len()
        )
        .into())
    }
}
