//! Enqueueing: one job, or many in one request. The chain of layers runs once per job in both.
use std::future::{Future, IntoFuture};
use std::sync::Arc;

use futures_util::future::join_all;
use ojs_model::JobId;
use tokio::sync::{mpsc, oneshot};

use super::Client;
use crate::error::Error;
use crate::job::{self, Job};
use crate::middleware::{EnqueueNext, Terminal};
use crate::request::{JobRequest, option_setters};
use crate::transport::BoxFuture;

/// A job about to be enqueued: set options, then `.await`.
///
/// `.await` gives the job, or [`Error::NotEnqueued`] when a middleware has dropped it. Where dropping is ordinary, use
/// [`send_optional`](Self::send_optional).
#[must_use = "nothing is sent until it is awaited"]
pub struct Enqueue {
    client: Client,
    request: JobRequest,
}

impl Enqueue {
    option_setters!(request);

    /// Gives the job an id of your own, a lowercase UUIDv7: enqueueing it twice makes one job.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.request = self.request.with_id(id);
        self
    }

    /// Sends the job. The same as awaiting this.
    ///
    /// # Errors
    /// [`Error::is_duplicate`] when a unique policy refuses it, [`Error::NotEnqueued`], or any error of [`Client::call`].
    pub async fn send(self) -> Result<Job, Error> {
        self.send_optional().await?.ok_or(Error::NotEnqueued)
    }

    /// Sends the job; `None` when a middleware has dropped it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_optional(self) -> Result<Option<Job>, Error> {
        self.client.enqueue_request(self.request).await
    }
}

impl IntoFuture for Enqueue {
    type Output = Result<Job, Error>;
    type IntoFuture = BoxFuture<'static, Result<Job, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl std::fmt::Debug for Enqueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enqueue").field("request", &self.request).finish_non_exhaustive()
    }
}

/// What the error of a layer means to the other jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Middleware {
    /// Nothing is sent.
    StopsAll,
    /// They are sent without it.
    StopsOne,
}

/// A job that has passed its layers and waits for the batch to be sent.
struct Arrived {
    index: usize,
    request: JobRequest,
    answer: oneshot::Sender<Result<Job, Error>>,
}

impl Client {
    /// Enqueues a job. `args` becomes an array: a tuple or list as it is, `()` as none, any other value as the only
    /// element.
    ///
    /// ```
    /// # #[cfg(feature = "embedded")]
    /// # #[tokio::main] async fn main() -> Result<(), ojs::Error> {
    /// # let client = ojs::Client::connect("memory:").await?;
    /// use std::time::Duration;
    /// let job = client.enqueue("email.send", ("a@example.com", "welcome")).queue("mail").delay(Duration::from_secs(60)).await?;
    /// assert_eq!(job.state.as_str(), "scheduled");
    /// # Ok(()) }
    /// # #[cfg(not(feature = "embedded"))] fn main() {}
    /// ```
    pub fn enqueue(&self, job_type: impl Into<String>, args: impl serde::Serialize) -> Enqueue {
        Enqueue { client: self.clone(), request: JobRequest::new(job_type, args) }
    }

    /// Enqueues a job that was built before; `None` when a middleware has dropped it.
    ///
    /// # Errors
    /// As [`Enqueue::send`].
    pub async fn enqueue_request(&self, request: JobRequest) -> Result<Option<Job>, Error> {
        let request = self.identified(request);
        let layers = self.inner.middleware.freeze();
        if layers.is_empty() {
            return self.send_one(request).await.map(Some);
        }
        let client = self.clone();
        let terminal: Terminal = Arc::new(move |request| {
            let client = client.clone();
            Box::pin(async move { client.send_one(request).await.map(Some) })
        });
        EnqueueNext::new(Arc::clone(layers), request.id.clone(), terminal).run(request).await
    }

    /// Enqueues many jobs in one request: all or none. The answer has a place for each, in order; a job that a
    /// middleware has dropped is not sent, and its place is `None`.
    ///
    /// # Errors
    /// The first error of a middleware: then nothing is sent. Else as [`call`](Self::call); `details.index` counts the
    /// jobs that were sent.
    pub async fn enqueue_batch(&self, requests: impl IntoIterator<Item = JobRequest>) -> Result<Vec<Option<Job>>, Error> {
        let whole = |client: Self, requests: Vec<JobRequest>| async move {
            client.send_batch(&requests).await.map(|jobs| jobs.into_iter().map(Ok).collect())
        };
        let requests = requests.into_iter().map(|request| self.identified(request));
        self.through_layers(requests, Middleware::StopsAll, whole).await?.into_iter().collect()
    }

    /// Takes each request through the layers, sends what arrives in one go, and takes each answer back out.
    pub(super) async fn through_layers<F, Fut>(
        &self,
        requests: impl IntoIterator<Item = JobRequest>,
        failure: Middleware,
        send: F,
    ) -> Result<Vec<Result<Option<Job>, Error>>, Error>
    where
        F: FnOnce(Self, Vec<JobRequest>) -> Fut,
        Fut: Future<Output = Result<Vec<Result<Job, Error>>, Error>>,
    {
        let requests: Vec<_> = requests.into_iter().collect();
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let layers = self.inner.middleware.freeze();
        if layers.is_empty() {
            return Ok(send(self.clone(), requests).await?.into_iter().map(|job| job.map(Some)).collect());
        }
        // Each job goes through its layers by itself; where they end it waits for the others. When all have arrived, or
        // were dropped, one request is sent, and each job's answer travels back out through its layers.
        let total = requests.len();
        let (arrivals, mut arrived) = mpsc::unbounded_channel();
        let (gone, mut dropped) = mpsc::unbounded_channel();
        let chains = requests.into_iter().enumerate().map(|(index, request)| {
            let run =
                EnqueueNext::new(Arc::clone(layers), request.id.clone(), waiting_room(index, arrivals.clone())).run(request);
            let gone = gone.clone();
            async move {
                let result = run.await;
                // The receiver is gone once the batch was sent.
                let _ = gone.send((index, result.as_ref().err().cloned()));
                result
            }
        });
        let sender = async {
            let mut waiting: Vec<Arrived> = Vec::with_capacity(total);
            let mut ended = 0;
            while waiting.len() + ended < total {
                tokio::select! {
                    biased;
                    Some(job) = arrived.recv() => waiting.push(job),
                    Some((_, error)) = dropped.recv() => match error {
                        Some(error) if failure == Middleware::StopsAll => return Err(error),
                        _ => ended += 1,
                    },
                }
            }
            answer_all(waiting, |requests| send(self.clone(), requests)).await;
            Ok(())
        };
        let chains = join_all(chains);
        let (results, ()) = tokio::try_join!(async { Ok(chains.await) }, sender)?;
        Ok(results)
    }

    async fn send_one(&self, request: JobRequest) -> Result<Job, Error> {
        let body = self.enqueue_raw(request.to_json()?.into()).await?;
        job::from_answer(&body)
    }

    async fn send_batch(&self, requests: &[JobRequest]) -> Result<Vec<Job>, Error> {
        let text = JobRequest::list_json(requests)?;
        let jobs = job::list_from_answer(&self.enqueue_batch_raw(text.into()).await?)?;
        if jobs.len() == requests.len() {
            return Ok(jobs);
        }
        Err(Error::json("batch answer", format!("it has {} jobs for the {} that were sent", jobs.len(), requests.len())))
    }

    /// Gives the job its id before the layers see it, when the transport may send it twice.
    fn identified(&self, mut request: JobRequest) -> JobRequest {
        if request.id.is_none() && self.inner.transport.resends() {
            request.id = Some(JobId::now_v7().to_string());
        }
        request
    }
}

/// Sends what has arrived, in the order of the batch, and answers each job.
async fn answer_all<F, Fut>(mut waiting: Vec<Arrived>, send: F)
where
    F: FnOnce(Vec<JobRequest>) -> Fut,
    Fut: Future<Output = Result<Vec<Result<Job, Error>>, Error>>,
{
    if waiting.is_empty() {
        return;
    }
    waiting.sort_unstable_by_key(|job| job.index);
    let (requests, answers): (Vec<_>, Vec<_>) = waiting.into_iter().map(|job| (job.request, job.answer)).unzip();
    // A layer that no longer waits for its answer is no fault.
    match send(requests).await {
        Ok(jobs) => answers.into_iter().zip(jobs).for_each(|(answer, job)| drop(answer.send(job))),
        Err(error) => answers.into_iter().for_each(|answer| drop(answer.send(Err(error.clone())))),
    }
}

/// The innermost layer of a batch: hands the job over and waits for its answer.
fn waiting_room(index: usize, arrivals: mpsc::UnboundedSender<Arrived>) -> Terminal {
    Arc::new(move |request| {
        let arrivals = arrivals.clone();
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let cut_off = || Error::Middleware("next was called after the batch had been sent".to_owned());
            arrivals.send(Arrived { index, request, answer }).map_err(|_| cut_off())?;
            answered.await.map_err(|_| cut_off())?.map(Some)
        })
    })
}
