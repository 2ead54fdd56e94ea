//! Jobs as C sees them: views into a frame, or of a job in our hands.
use ojs_abi::dispatch::Handed;
use ojs_abi::frame;

use crate::error::{enter, given, ojs_error};
use crate::slice::{ojs_buf, ojs_slice, put};

/// A job out of a frame. The slices live as long as the frame.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ojs_job {
    /// Answers go by this.
    pub token: u64,
    /// UUIDv7, the same in every redelivery.
    pub id: ojs_slice,
    /// Finds the handler.
    pub job_type: ojs_slice,
    /// The queue it came from.
    pub queue: ojs_slice,
    /// The whole job as JSON: `args`, `meta`, and the rest.
    pub envelope: ojs_slice,
    /// 1 on the first run.
    pub attempt: u32,
    /// It has a deadline.
    pub has_deadline: bool,
    /// Milliseconds left until then, when the frame was made.
    pub deadline_ms: u64,
}

impl ojs_job {
    const NONE: Self = Self {
        token: 0,
        id: ojs_slice::EMPTY,
        job_type: ojs_slice::EMPTY,
        queue: ojs_slice::EMPTY,
        envelope: ojs_slice::EMPTY,
        attempt: 0,
        has_deadline: false,
        deadline_ms: 0,
    };

    /// Of a job in our hands; it must outlive the view.
    pub(crate) fn of(handed: &Handed) -> Self {
        let job = &handed.job;
        let left = job.deadline.map(|deadline| deadline.saturating_duration_since(std::time::Instant::now()));
        Self {
            token: handed.token.to_bits(),
            id: ojs_slice::of(job.id.as_bytes()),
            job_type: ojs_slice::of(job.job_type.as_bytes()),
            queue: ojs_slice::of(job.queue.as_bytes()),
            envelope: ojs_slice::of(&job.envelope),
            attempt: job.attempt,
            has_deadline: left.is_some(),
            deadline_ms: u64::try_from(left.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// How many jobs are in a frame that ojs_worker_pull() gave; 0 of anything else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ojs_frame_count(frame: Option<&ojs_buf>) -> usize {
    frame.and_then(|frame| self::frame::Jobs::read(&frame.0).ok()).map_or(0, |jobs| jobs.len())
}

/// The job with this index in a frame.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ojs_frame_job(frame: Option<&ojs_buf>, index: usize, out: *mut ojs_job) -> Option<Box<ojs_error>> {
    put(out, ojs_job::NONE);
    enter("ojs_frame_job", || {
        let job = self::frame::Jobs::read(&given(frame, "frame")?.0)?.get(index)?;
        put(
            out,
            ojs_job {
                token: job.token.to_bits(),
                id: ojs_slice::of(job.id),
                job_type: ojs_slice::of(job.job_type),
                queue: ojs_slice::of(job.queue),
                envelope: ojs_slice::of(job.envelope),
                attempt: job.attempt,
                has_deadline: job.deadline_ms.is_some(),
                deadline_ms: job.deadline_ms.unwrap_or(0),
            },
        );
        Ok(())
    })
}
