//! Sizes that the protocol fixes or advises (protocol section 1.6).

/// Largest accepted envelope in bytes: the 10 MiB that the specification recommends.
pub const MAX_ENVELOPE_BYTES: usize = 10 * 1024 * 1024;
/// Largest accepted request body in bytes. A batch holds many envelopes; this bounds memory per connection.
pub const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Largest `meta` object in bytes, measured as sent.
pub const MAX_META_BYTES: usize = 65_536;
/// Longest job type in bytes.
pub const MAX_TYPE_BYTES: usize = 255;
/// Longest queue name in bytes.
pub const MAX_QUEUE_BYTES: usize = 128;
/// Deepest nesting of arrays and objects. Many parsers stop at 128, serde_json among them, and what is accepted here comes back inside a
/// few levels more: `{"jobs":[{"parent_results":[…]}]}`. A job that no client could read would be poison.
pub const MAX_DEPTH: usize = 120;
/// Largest integer that travels as a JSON number, 2^53 − 1 (protocol section 6).
pub const MAX_INTEGER: u64 = (1 << 53) - 1;
/// Longest name or id that is stored, in bytes: of workers, cron entries, steps, limit keys and the like.
pub const MAX_NAME_BYTES: usize = 255;
/// Longest lease in milliseconds: 30 days. What a worker that never comes back holds is free after it at the latest.
pub const MAX_LEASE_MS: u64 = 30 * 86_400_000;
/// Longest time in milliseconds that a released job can be kept back: ten years.
pub const MAX_DELAY_MS: u64 = 3_650 * 86_400_000;
/// Most queues that one fetch can name.
pub const MAX_FETCH_QUEUES: usize = 1_000;
/// Most job types that one fetch can name.
pub const MAX_FETCH_TYPES: usize = 256;
/// Longest number in JSON, in characters. A double has at most 309 digits before the point.
pub const MAX_NUMBER_BYTES: usize = 400;
/// Largest checkpoint in bytes: 1 MiB (extensions section 21).
pub const MAX_CHECKPOINT_BYTES: usize = 1_048_576;
/// Largest `data` of a report of progress in bytes (extensions section 20).
pub const MAX_PROGRESS_DATA_BYTES: usize = 4_096;
/// Longest `message` of a report of progress in bytes.
pub const MAX_PROGRESS_MESSAGE_BYTES: usize = 1_024;
/// Largest stored result in bytes.
pub const MAX_RESULT_BYTES: usize = 1024 * 1024;
/// Most jobs in one batch: the schema's cap.
pub const MAX_BATCH_JOBS: usize = 10_000;
/// Most jobs handed out by one fetch. More only makes one worker sit on leases.
pub const MAX_FETCH_COUNT: usize = 1_000;
/// Entries kept in a job's error history; the oldest go first.
pub const MAX_ERROR_HISTORY: usize = 50;
/// Frames kept of a backtrace.
pub const MAX_BACKTRACE_FRAMES: usize = 50;
/// Characters kept of a backtrace, and of an error message.
pub const MAX_BACKTRACE_CHARS: usize = 10_000;
/// Lowest and highest priority.
pub const PRIORITY_RANGE: std::ops::RangeInclusive<i64> = -100..=100;
