//! The rules alone: what one enqueue request costs before it reaches a store.
use std::hint::black_box;
use std::time::{Duration, Instant};

use ojs_model::envelope::{check_body, split_batch};
use ojs_model::{NewJob, Timestamp};

use crate::Result;
use crate::load::{PAYLOAD_BYTES, QUEUE, payload};
use crate::report::{Better, Figure, Report};
use crate::scenario::Plan;

/// Measures.
pub fn run(plan: &Plan, report: &mut Report) -> Result<()> {
    let bar = plan.progress("parsing", plan.runs * 4);
    let plain = format!(
        r#"{{"id":"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f","type":"bench.noop","args":[{}],"options":{{"queue":"{QUEUE}"}}}}"#,
        payload()
    );
    let rich = format!(
        r#"{{"type":"bench.noop","args":[{}],"meta":{{"trace_id":"t1"}},"options":{{"queue":"{QUEUE}","priority":5,"timeout_ms":30000,"expires_at":"2030-03-16T00:00:00Z","tags":["a","b"],"retry":{{"max_attempts":5,"initial_interval":"PT1S","backoff_coefficient":2.0,"max_interval":"PT5M","jitter":true}}}}}}"#,
        payload()
    );
    let batch = format!(r#"{{"jobs":[{}]}}"#, vec![plain.as_str(); 100].join(","));
    let now = Timestamp::from_millis(1_760_000_000_000);
    let one = |text: &str| -> Result<usize> {
        let text = check_body(text.as_bytes())?;
        Ok(NewJob::parse(text, now)?.body.len())
    };
    let many = |text: &str| -> Result<usize> {
        let jobs = split_batch(check_body(text.as_bytes())?)?;
        jobs.into_iter().map(|job| Ok(NewJob::parse(job, now)?.body.len())).sum()
    };
    let value = |text: &str| -> Result<usize> { Ok(usize::from(serde_json::from_str::<serde_json::Value>(text)?.is_object())) };
    let (mut plains, mut riches, mut batches, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        plains.push(nanoseconds(|| one(&plain))? / 1e3);
        bar.inc(1);
        riches.push(nanoseconds(|| one(&rich))? / 1e3);
        bar.inc(1);
        batches.push(nanoseconds(|| many(&batch))? / 1e5);
        bar.inc(1);
        values.push(nanoseconds(|| value(&plain))? / 1e3);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let conditions = |what: &str| format!("one core; {what}, {PAYLOAD_BYTES} byte argument");
    report.add(vec![
        Figure::ours("parse one enqueue request", "µs", Better::Less, plains, conditions("id, type, args, queue"))
            .bound(2.0, Some(1.0)),
        Figure::ours("parse one with every option", "µs", Better::Less, riches, conditions("retry, times, tags, meta")),
        Figure::ours("parse one of a batch of 100", "µs", Better::Less, batches, conditions("splitting included")),
        Figure::ceiling("serde_json to a tree, no checks", "µs", Better::Less, values, conditions("the same request")),
    ]);
    Ok(())
}

/// Of one call, averaged over a quarter of a second.
fn nanoseconds(mut work: impl FnMut() -> Result<usize>) -> Result<f64> {
    let started = Instant::now();
    let mut calls = 0_u32;
    while started.elapsed() < Duration::from_millis(250) {
        for _ in 0..64 {
            black_box(work()?);
        }
        calls += 64;
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(calls))
}
