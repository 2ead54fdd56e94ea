//! Packed frames: a batch of jobs, or of outcomes, in one block of memory. For hosts in which every object made at the
//! boundary costs more than an offset (C, Go, Java, Node).
//!
//! All numbers are little endian. Offsets count from the start of the frame. A text is UTF-8 without a final zero.
//!
// gen:rust/frame_table.j2 (make gen; do not edit)
//! | header, 16 bytes | | |
//! |---|---|---|
//! | 0 | u32 | magic |
//! | 4 | u16 | version |
//! | 6 | u16 | entry_size: bytes of an entry |
//! | 8 | u32 | count: entries |
//! | 12 | u32 | total: bytes of the whole frame |
//!
//! | job entry, 56 bytes | | |
//! |---|---|---|
//! | 0 | u64 | token |
//! | 8 | text | envelope: the whole job as JSON |
//! | 16 | text | id |
//! | 24 | text | type |
//! | 32 | text | queue |
//! | 40 | u32 | attempt |
//! | 44 | u32 | flags |
//! | 48 | u64 | deadline: milliseconds left when the frame was made |
//!
//! | outcome entry, 32 bytes | | |
//! |---|---|---|
//! | 0 | u64 | token |
//! | 8 | u32 | kind |
//! | 12 | u32 | reserved: zero |
//! | 16 | text | payload |
//! | 24 | u64 | delay: milliseconds |
// gen:end
//!
//! A reader takes the size of an entry from the header, so that later versions may append members.
use std::time::{Duration, Instant};

use bytes::Bytes;
use ojs::dispatch::{HandlerFailure, Outcome};
use serde::Deserialize;
use serde_json::Value;

use crate::dispatch::Handed;
use crate::error::AbiError;
use crate::token::JobToken;

// gen:rust/frame.j2 (make gen; do not edit)
/// `OJSJ`: a frame of jobs.
pub const JOBS_MAGIC: u32 = u32::from_le_bytes(*b"OJSJ");
/// `OJSO`: a frame of outcomes.
pub const OUTCOMES_MAGIC: u32 = u32::from_le_bytes(*b"OJSO");
/// The version of both.
pub const VERSION: u16 = 1;
/// Bytes of the header.
pub const HEADER: usize = 16;
/// Bytes of a job entry.
pub const JOB_ENTRY: usize = 56;
/// Bytes of an outcome entry.
pub const OUTCOME_ENTRY: usize = 32;
/// Flag of a job. Id, type, queue and envelope are ASCII.
pub const FLAG_ASCII: u32 = 1;
/// Flag of a job. It has a deadline.
pub const FLAG_DEADLINE: u32 = 2;

// Where the fields are.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 4;
const AT_ENTRY_SIZE: usize = 6;
const AT_COUNT: usize = 8;
const AT_TOTAL: usize = 12;

const JOB_TOKEN: usize = 0;
const JOB_ENVELOPE: usize = 8;
const JOB_ID: usize = 16;
const JOB_TYPE: usize = 24;
const JOB_QUEUE: usize = 32;
const JOB_ATTEMPT: usize = 40;
const JOB_FLAGS: usize = 44;
const JOB_DEADLINE: usize = 48;

const OUTCOME_TOKEN: usize = 0;
const OUTCOME_KIND: usize = 8;
const OUTCOME_PAYLOAD: usize = 16;
const OUTCOME_DELAY: usize = 24;

/// What an outcome entry says, and what its payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum OutcomeKind {
    /// Done; the payload is the result as JSON text, or empty.
    Completed = 0,
    /// Failed; the payload is a JSON object: message, perhaps code, type, retryable, details, backtrace.
    Failed = 1,
    /// Given back without counting an attempt; no payload.
    Released = 2,
    /// To run again after the delay, without counting a failure; no payload.
    Snoozed = 3,
}

impl OutcomeKind {
    /// The kind with this number.
    #[must_use]
    pub fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Completed,
            1 => Self::Failed,
            2 => Self::Released,
            3 => Self::Snoozed,
            _ => return None,
        })
    }
}
// gen:end

/// Packs jobs.
///
/// # Errors
/// More than 4 GiB.
pub fn pack_jobs(jobs: &[Handed]) -> Result<Vec<u8>, AbiError> {
    let bytes: usize = jobs.iter().flat_map(texts).map(<[u8]>::len).sum();
    let mut frame = Vec::with_capacity(HEADER + jobs.len() * JOB_ENTRY + bytes);
    let total = frame.capacity();
    header(&mut frame, JOBS_MAGIC, JOB_ENTRY, jobs.len(), total)?;
    let now = Instant::now();
    let mut at = HEADER + jobs.len() * JOB_ENTRY;
    for handed in jobs {
        frame.extend_from_slice(&handed.token.to_bits().to_le_bytes());
        for text in texts(handed) {
            put(&mut frame, at)?;
            put(&mut frame, text.len())?;
            at += text.len();
        }
        frame.extend_from_slice(&handed.job.attempt.to_le_bytes());
        let ascii = if texts(handed).iter().all(|text| text.is_ascii()) { FLAG_ASCII } else { 0 };
        let left = handed.job.deadline.map(|deadline| deadline.saturating_duration_since(now));
        let deadline = if left.is_some() { FLAG_DEADLINE } else { 0 };
        frame.extend_from_slice(&(ascii | deadline).to_le_bytes());
        let left = u64::try_from(left.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
        frame.extend_from_slice(&left.to_le_bytes());
    }
    for text in jobs.iter().flat_map(texts) {
        frame.extend_from_slice(text);
    }
    Ok(frame)
}

fn texts(handed: &Handed) -> [&[u8]; 4] {
    let job = &handed.job;
    [&job.envelope, job.id.as_bytes(), job.job_type.as_bytes(), job.queue.as_bytes()]
}

fn header(frame: &mut Vec<u8>, magic: u32, entry: usize, count: usize, total: usize) -> Result<(), AbiError> {
    frame.extend_from_slice(&magic.to_le_bytes());
    frame.extend_from_slice(&VERSION.to_le_bytes());
    frame.extend_from_slice(&u16::try_from(entry).unwrap_or(u16::MAX).to_le_bytes());
    put(frame, count)?;
    put(frame, total)
}

fn put(frame: &mut Vec<u8>, number: usize) -> Result<(), AbiError> {
    let number = u32::try_from(number).map_err(|_| AbiError::invalid("a frame cannot be larger than 4 GiB"))?;
    frame.extend_from_slice(&number.to_le_bytes());
    Ok(())
}

/// One job of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table at the top")]
pub struct PackedJob<'a> {
    pub token: JobToken,
    pub envelope: &'a [u8],
    pub id: &'a [u8],
    pub job_type: &'a [u8],
    pub queue: &'a [u8],
    pub attempt: u32,
    pub deadline_ms: Option<u64>,
}

/// A frame of jobs, read.
#[derive(Debug, Clone, Copy)]
pub struct Jobs<'a> {
    frame: &'a [u8],
    entry: usize,
    count: usize,
}

impl<'a> Jobs<'a> {
    /// # Errors
    /// It is not such a frame.
    pub fn read(frame: &'a [u8]) -> Result<Self, AbiError> {
        if u32_at(frame, AT_MAGIC)? != JOBS_MAGIC || u16_at(frame, AT_VERSION)? != VERSION {
            return Err(AbiError::invalid(format!("not a frame of jobs of version {VERSION}")));
        }
        Ok(Self { frame, entry: usize::from(u16_at(frame, AT_ENTRY_SIZE)?), count: size_at(frame, AT_COUNT)? })
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// None.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The job with this index.
    ///
    /// # Errors
    /// There is none, or the frame is broken.
    pub fn get(&self, index: usize) -> Result<PackedJob<'a>, AbiError> {
        if index >= self.count {
            return Err(AbiError::invalid(format!("no job {index}: the frame has {}", self.count)));
        }
        let at = index.checked_mul(self.entry).and_then(|at| at.checked_add(HEADER)).ok_or_else(cut)?;
        let entry = self.frame.get(at..).ok_or_else(cut)?;
        let text = |at: usize| {
            let (from, length) = (size_at(entry, at)?, size_at(entry, at + 4)?);
            from.checked_add(length).and_then(|to| self.frame.get(from..to)).ok_or_else(cut)
        };
        Ok(PackedJob {
            token: JobToken::from_bits(u64_at(entry, JOB_TOKEN)?),
            envelope: text(JOB_ENVELOPE)?,
            id: text(JOB_ID)?,
            job_type: text(JOB_TYPE)?,
            queue: text(JOB_QUEUE)?,
            attempt: u32_at(entry, JOB_ATTEMPT)?,
            deadline_ms: if u32_at(entry, JOB_FLAGS)? & FLAG_DEADLINE == 0 { None } else { Some(u64_at(entry, JOB_DEADLINE)?) },
        })
    }
}

/// Reads a frame of outcomes. All of it is checked before anything is returned.
///
/// # Errors
/// It is not such a frame, or an entry in it is wrong; the message names the entry.
pub fn read_outcomes(frame: &[u8]) -> Result<Vec<(JobToken, Outcome)>, AbiError> {
    let magic = u32_at(frame, AT_MAGIC)?;
    let version = u16_at(frame, AT_VERSION)?;
    if magic != OUTCOMES_MAGIC || version != VERSION {
        return Err(AbiError::invalid(format!("not a frame of outcomes of version {VERSION}")));
    }
    let entry = usize::from(u16_at(frame, AT_ENTRY_SIZE)?);
    let (count, total) = (size_at(frame, AT_COUNT)?, size_at(frame, AT_TOTAL)?);
    if total != frame.len() || entry < OUTCOME_ENTRY {
        return Err(AbiError::invalid(format!("the frame says {total} bytes, entries of {entry}; it has {} bytes", frame.len())));
    }
    let mut outcomes = Vec::with_capacity(count.min(frame.len() / entry));
    for index in 0..count {
        let at = index.checked_mul(entry).and_then(|at| at.checked_add(HEADER)).ok_or_else(cut)?;
        let outcome = outcome_at(frame, at).map_err(|error| AbiError::invalid(format!("outcome {index}: {error}")))?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn outcome_at(frame: &[u8], at: usize) -> Result<(JobToken, Outcome), AbiError> {
    let entry = frame.get(at..at + OUTCOME_ENTRY).ok_or_else(cut)?;
    let token = JobToken::from_bits(u64_at(entry, OUTCOME_TOKEN)?);
    let kind = u32_at(entry, OUTCOME_KIND)?;
    let (from, length) = (size_at(entry, OUTCOME_PAYLOAD)?, size_at(entry, OUTCOME_PAYLOAD + 4)?);
    let payload = from.checked_add(length).and_then(|to| frame.get(from..to)).ok_or_else(cut)?;
    let outcome = match OutcomeKind::from_number(kind) {
        Some(OutcomeKind::Completed) if payload.is_empty() => Outcome::Completed { result: None },
        Some(OutcomeKind::Completed) => completed(payload)?,
        Some(OutcomeKind::Failed) => Outcome::Failed(failure(payload)?),
        Some(OutcomeKind::Released) => Outcome::Released,
        Some(OutcomeKind::Snoozed) => Outcome::Snoozed(Duration::from_millis(u64_at(entry, OUTCOME_DELAY)?)),
        None => return Err(AbiError::invalid(format!("unknown kind {kind}"))),
    };
    Ok((token, outcome))
}

/// An outcome with a result.
///
/// # Errors
/// The result is not JSON.
pub fn completed(result: &[u8]) -> Result<Outcome, AbiError> {
    serde_json::from_slice::<&serde_json::value::RawValue>(result)
        .map_err(|e| AbiError::invalid(format!("the result is not JSON: {e}")))?;
    Ok(Outcome::Completed { result: Some(Bytes::copy_from_slice(result)) })
}

/// A failure from a JSON object: `message` is required; `code` is `handler_error`, `type` the code and `retryable` true
/// when they are absent.
///
/// # Errors
/// It is not such an object.
pub fn failure(json: &[u8]) -> Result<HandlerFailure, AbiError> {
    #[derive(Deserialize)]
    struct Failure {
        code: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        message: String,
        retryable: Option<bool>,
        details: Option<Value>,
        backtrace: Option<Vec<String>>,
    }
    let failure: Failure =
        serde_json::from_slice(json).map_err(|e| AbiError::invalid(format!("a failure is {{\"message\": …}}: {e}")))?;
    let code = failure.code.unwrap_or_else(|| "handler_error".to_owned());
    Ok(HandlerFailure {
        kind: failure.kind.unwrap_or_else(|| code.clone()),
        code,
        message: failure.message,
        retryable: failure.retryable.unwrap_or(true),
        details: failure.details.filter(Value::is_object),
        backtrace: failure.backtrace.unwrap_or_default(),
    })
}

/// The object that [`failure`] reads.
#[must_use]
pub fn failure_json(failure: &HandlerFailure) -> String {
    serde_json::json!({
        "code": failure.code,
        "type": failure.kind,
        "message": failure.message,
        "retryable": failure.retryable,
        "details": failure.details,
        "backtrace": failure.backtrace,
    })
    .to_string()
}

fn cut() -> AbiError {
    AbiError::invalid("the frame ends too early, or an offset points outside of it")
}

fn array_at<const N: usize>(frame: &[u8], at: usize) -> Result<[u8; N], AbiError> {
    frame.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or_else(cut)
}

fn u16_at(frame: &[u8], at: usize) -> Result<u16, AbiError> {
    Ok(u16::from_le_bytes(array_at(frame, at)?))
}

fn u32_at(frame: &[u8], at: usize) -> Result<u32, AbiError> {
    Ok(u32::from_le_bytes(array_at(frame, at)?))
}

fn u64_at(frame: &[u8], at: usize) -> Result<u64, AbiError> {
    Ok(u64::from_le_bytes(array_at(frame, at)?))
}

fn size_at(frame: &[u8], at: usize) -> Result<usize, AbiError> {
    usize::try_from(u32_at(frame, at)?).map_err(|_| cut())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Job;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn handed(token: u64, envelope: &str, deadline: Option<Instant>) -> Handed {
        let job = Job {
            id: "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".into(),
            job_type: "a.b".into(),
            queue: "mail".into(),
            attempt: 3,
            deadline,
            envelope: Bytes::copy_from_slice(envelope.as_bytes()),
        };
        Handed { token: JobToken::from_bits(token), job: Arc::new(job) }
    }

    fn text(frame: &[u8], at: usize) -> &str {
        let (from, length) = (size_at(frame, at).unwrap(), size_at(frame, at + 4).unwrap());
        std::str::from_utf8(&frame[from..from + length]).unwrap()
    }

    #[test]
    fn jobs_are_where_the_table_says() {
        let soon = Instant::now() + Duration::from_secs(60);
        let frame = pack_jobs(&[handed(u64::MAX, "{\"a\":1}", None), handed(7, "{\"ö\":1}", Some(soon))]).unwrap();
        assert_eq!(&frame[..4], b"OJSJ");
        assert_eq!((u16_at(&frame, 4).unwrap(), u16_at(&frame, 6).unwrap()), (VERSION, 56));
        assert_eq!((size_at(&frame, 8).unwrap(), size_at(&frame, 12).unwrap()), (2, frame.len()));
        let (first, second) = (HEADER, HEADER + JOB_ENTRY);
        assert_eq!(u64_at(&frame, first).unwrap(), u64::MAX);
        assert_eq!((text(&frame, first + 8), text(&frame, first + 24), text(&frame, first + 32)), ("{\"a\":1}", "a.b", "mail"));
        assert_eq!(text(&frame, second + 16), "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
        assert_eq!(text(&frame, second + 8), "{\"ö\":1}");
        assert_eq!((u32_at(&frame, first + 40).unwrap(), u32_at(&frame, first + 44).unwrap()), (3, FLAG_ASCII));
        assert_eq!(u32_at(&frame, second + 44).unwrap(), FLAG_DEADLINE);
        let left = u64_at(&frame, second + 48).unwrap();
        assert!((1..=60_000).contains(&left), "{left}");
        let jobs = Jobs::read(&frame).unwrap();
        let job = jobs.get(1).unwrap();
        assert_eq!((jobs.len(), job.token.to_bits(), job.queue, job.envelope), (2, 7, &b"mail"[..], "{\"ö\":1}".as_bytes()));
        assert_eq!((job.deadline_ms, jobs.get(0).unwrap().deadline_ms), (Some(left), None));
        assert!(jobs.get(2).is_err());
    }

    fn outcomes(entries: &[(u64, u32, &str, u64)]) -> Vec<u8> {
        let total = HEADER + entries.len() * OUTCOME_ENTRY + entries.iter().map(|e| e.2.len()).sum::<usize>();
        let mut frame = Vec::new();
        header(&mut frame, OUTCOMES_MAGIC, OUTCOME_ENTRY, entries.len(), total).unwrap();
        let mut at = HEADER + entries.len() * OUTCOME_ENTRY;
        for (token, kind, payload, delay) in entries {
            frame.extend_from_slice(&token.to_le_bytes());
            frame.extend_from_slice(&kind.to_le_bytes());
            frame.extend_from_slice(&[0; 4]);
            put(&mut frame, at).unwrap();
            put(&mut frame, payload.len()).unwrap();
            frame.extend_from_slice(&delay.to_le_bytes());
            at += payload.len();
        }
        entries.iter().for_each(|e| frame.extend_from_slice(e.2.as_bytes()));
        frame
    }

    #[test]
    fn outcomes_of_every_kind() {
        let frame = outcomes(&[
            (1, 0, "", 0),
            (2, 0, "{\"n\":12345678901234567890}", 0),
            (3, 1, r#"{"message":"no"}"#, 0),
            (4, 1, r#"{"code":"c","type":"T","message":"m","retryable":false,"details":{"a":1},"backtrace":["x"]}"#, 0),
            (5, 2, "", 0),
            (6, 3, "", 1500),
        ]);
        let read: Vec<(u64, Outcome)> = read_outcomes(&frame).unwrap().into_iter().map(|(t, o)| (t.to_bits(), o)).collect();
        let result = Bytes::from_static(b"{\"n\":12345678901234567890}");
        let plain = HandlerFailure::error("handler_error", "no");
        let full = HandlerFailure {
            code: "c".into(),
            retryable: false,
            details: Some(serde_json::json!({"a": 1})),
            backtrace: vec!["x".into()],
            ..HandlerFailure::error("T", "m")
        };
        let expected = vec![
            (1, Outcome::Completed { result: None }),
            (2, Outcome::Completed { result: Some(result) }),
            (3, Outcome::Failed(plain)),
            (4, Outcome::Failed(full)),
            (5, Outcome::Released),
            (6, Outcome::Snoozed(Duration::from_millis(1500))),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn wrong_frames_say_what_is_wrong() {
        let good = outcomes(&[(1, 0, "1", 0)]);
        let mut jobs = good.clone();
        jobs[3] = b'J';
        for (frame, message) in [
            (&[][..], "the frame ends too early"),
            (&jobs[..], "not a frame of outcomes"),
            (&good[..good.len() - 1], "it has 48 bytes"),
            (&outcomes(&[(1, 9, "", 0)])[..], "outcome 0: unknown kind 9"),
            (&outcomes(&[(1, 0, "1", 0), (2, 0, "{", 0)])[..], "outcome 1: the result is not JSON"),
            (&outcomes(&[(1, 1, "{}", 0)])[..], "outcome 0: a failure is"),
        ] {
            let error = read_outcomes(frame).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    proptest! {
        /// Whatever a host hands in: an error, never a panic.
        #[test]
        fn any_bytes_are_read(mut frame in proptest::collection::vec(any::<u8>(), 0..200), lies in any::<bool>()) {
            if lies && frame.len() >= 12 {
                frame[..8].copy_from_slice(&[b'O', b'J', b'S', b'O', 1, 0, 32, 0]);
                let length = u32::try_from(frame.len()).unwrap().to_le_bytes();
                if frame.len() >= 16 {
                    frame[12..16].copy_from_slice(&length);
                }
            }
            let _ = read_outcomes(&frame);
            if frame.len() >= 4 {
                frame[3] = b'J';
            }
            if let Ok(jobs) = Jobs::read(&frame) {
                let _ = (jobs.get(0), jobs.get(jobs.len()));
            }
        }
    }
}
