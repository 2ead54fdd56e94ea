//! Rows that a group of commands will ask for.
use ojs_model::{JobId, NewJob};

/// The rows that a store across a network reads ahead, in one exchange. Any other row is read when a rule needs it.
#[derive(Debug, Default)]
pub struct Wanted<'a> {
    /// Jobs that exist, each with the lease token that the command carries.
    pub jobs: Vec<(JobId, Option<i64>)>,
    /// Ids of plain new jobs: the insert itself says when one of them exists.
    pub new_jobs: Vec<JobId>,
    /// Ids of workers.
    pub workers: Vec<&'a str>,
    /// Tenants and ids of the trains that new jobs join; the tenant is empty for the default one.
    pub trains: Vec<(&'a str, &'a str)>,
    /// Names of queues, and how many available jobs are to be claimed from each.
    pub claims: Vec<(&'a str, usize)>,
}

impl<'a> Wanted<'a> {
    /// A job that exists.
    pub fn job(&mut self, id: JobId) {
        self.jobs.push((id, None));
    }

    /// A job that is to be stored. One with a uniqueness key may turn out to exist, so its row is read.
    pub fn new_job(&mut self, job: &'a NewJob) {
        self.trains.extend(job.train.as_ref().map(|train| (job.tenant.as_deref().unwrap_or_default(), train.id.as_str())));
        if job.unique.is_some() { self.job(job.id) } else { self.new_jobs.push(job.id) }
    }
}
