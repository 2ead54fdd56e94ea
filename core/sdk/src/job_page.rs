//! One page of a list of jobs.
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::job::Job;

/// One page of the jobs that [`Client::list_jobs`](crate::Client::list_jobs) finds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobPage {
    /// The jobs of this page.
    pub jobs: Vec<Job>,
    /// How many jobs are on all pages. Servers with very many jobs may stop counting.
    pub total: u64,
    /// The number of this page. The first page is 1.
    pub page: u64,
    /// Whether there is a page behind this one.
    pub has_more: bool,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    pagination: Pagination,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Pagination {
    total: u64,
    page: u64,
    has_more: bool,
}

impl JobPage {
    pub(crate) fn read(body: &Bytes) -> Result<Self, Error> {
        let Answer { items, pagination } = serde_json::from_slice(body).map_err(|e| Error::json("answer", e))?;
        // Some servers write an empty list as null.
        let jobs = items.unwrap_or_default().into_iter().map(|raw| Job::parse(body.slice_ref(raw.get().as_bytes())));
        let Pagination { total, page, has_more } = pagination;
        Ok(Self { jobs: jobs.collect::<Result<_, _>>()?, total, page, has_more })
    }
}
