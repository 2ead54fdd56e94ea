//! Server-sent events through the router: channels, the firehose, resume, losses, the end.
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use axum::response::Response;
use futures_util::{FutureExt, StreamExt};
use ojs_engine::command::{Activate, Cancel, SetPaused};
use ojs_engine::{Engine, EventFilter};
use ojs_model::JobState;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Bench, seconds};

crate::on_every_store!(
    a_job_channel_tells_every_transition_and_ends_with_the_job,
    a_transition_without_an_event_of_its_own_is_told,
    a_queue_channel_tells_of_its_own_jobs_and_pauses,
    the_firehose_filters,
    a_listener_resumes_where_it_stopped,
    half_of_an_event_is_told_again_after_a_cut,
    a_stream_may_begin_at_a_time,
    a_job_that_has_ended_is_told_once,
    what_was_pruned_is_a_gap,
    an_id_of_another_server_is_a_gap,
    a_slow_reader_is_told_what_it_lost,
    unknown_subjects_are_404_in_json,
    bad_parameters_are_refused,
    closing_says_goodbye,
    without_listeners_nothing_runs,
    a_summary_says_once_a_second_that_something_has_happened,
    a_summary_of_a_tenant_tells_nothing_of_others,
    a_result_is_streamed_when_it_is_there,
    progress_is_streamed_to_the_end_of_the_job,
);

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// One frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub id: String,
    pub event: String,
    pub data: Value,
}

/// The client's end of a stream.
pub struct Listener {
    body: BodyDataStream,
    text: String,
    /// `id` of a frame without data: where a reconnect begins.
    start: String,
}

impl Listener {
    /// Reads the body of an answer.
    pub fn of(body: Body) -> Self {
        Self { body: body.into_data_stream(), text: String::new(), start: String::new() }
    }
}

async fn get(engine: &Engine, path: &str, last: Option<&str>) -> Response {
    let mut request = Request::get(format!("/ojs/v1{path}")).header("accept", "text/event-stream");
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    engine.router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

pub async fn listen(b: &Bench, path: &str, last: Option<&str>) -> Listener {
    let response = get(&b.engine, path, last).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut listener = Listener::of(response.into_body());
    let head = listener.block().await.unwrap();
    assert!(head.starts_with("retry: 3000\nid: evt_"), "{head}");
    head.lines().nth(1).unwrap().trim_start_matches("id: ").clone_into(&mut listener.start);
    listener
}

impl Listener {
    /// The next block of lines; `None` when the server has ended the stream.
    pub async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.body.next()).await.expect("a frame in time")?;
            self.text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        }
    }

    pub async fn next(&mut self) -> Option<Frame> {
        loop {
            let block = self.block().await?;
            if block.starts_with(':') {
                continue;
            }
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap().to_owned();
            return Some(Frame { id: field("id"), event: field("event"), data: serde_json::from_str(&field("data")).unwrap() });
        }
    }

    async fn take(&mut self, count: usize) -> Vec<Frame> {
        let mut frames = Vec::new();
        for _ in 0..count {
            frames.push(self.next().await.expect("the stream goes on"));
        }
        frames
    }

    async fn rest(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next().await {
            frames.push(frame);
        }
        frames
    }
}

fn names(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.event.as_str()).collect()
}

/// `from>to` of the transitions among the frames.
fn moves(frames: &[Frame]) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let changes = frames.iter().filter(|frame| frame.event == "job.state_changed");
    changes.map(|frame| format!("{}>{}", word(&frame.data["from"]), word(&frame.data["to"]))).collect()
}

async fn a_job_channel_tells_every_transition_and_ends_with_the_job(b: Bench) {
    let retry = r#"{"type":"mail.send","args":[],"options":{"queue":"q","retry":{"max_attempts":2,"jitter":false}}}"#;
    let id = b.enqueue(retry).await;
    let other = b.job().await;
    let mut listener = listen(&b, &format!("/jobs/{id}/events"), None).await;
    let job = b.claim(1).await.remove(0);
    assert_eq!(job.row.id, id);
    b.beat("w", &[(id, None)]).await;
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(1)).await;
    b.change(Cancel(other)).await.unwrap();
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    let frames = listener.rest().await;
    assert_eq!(
        moves(&frames),
        ["available>active", "active>retryable", "retryable>available", "available>active", "active>discarded"]
    );
    let first = &frames[0].data;
    assert_eq!(first["job_id"], id.to_string());
    assert_eq!((&first["queue"], &first["type"]), (&json!("q"), &json!("mail.send")));
    assert_eq!(first["timestamp"], "2026-01-01T00:00:00.000Z");
    for name in ["job.started", "job.heartbeat", "job.failed", "job.retrying", "job.discarded"] {
        assert!(names(&frames).contains(&name), "{name} in {:?}", names(&frames));
    }
    assert_eq!(frames.last().unwrap().event, "job.discarded", "what the last commit says is told to its end");
    let beat = frames.iter().find(|frame| frame.event == "job.heartbeat").unwrap();
    assert_eq!((&beat.data["worker_id"], &beat.data["job_id"]), (&json!("w"), &json!(id.to_string())));
    assert!(frames.iter().all(|frame| frame.data["job_id"] == id.to_string()), "nothing of the other job");
    let mut ids: Vec<&String> = frames.iter().map(|frame| &frame.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), frames.len(), "every frame has an id of its own");
}

async fn a_transition_without_an_event_of_its_own_is_told(b: Bench) {
    b.job_in(JobState::Cancelled).await;
    let mut all = listen(&b, "/events/stream?channel=queue:q&types=job.state_changed", None).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    let id = b.job_in(JobState::Pending).await;
    b.change(Activate(id)).await.unwrap();
    let job = b.claim(1).await.remove(0);
    b.settle(id, Some(job.row.lease), ojs_engine::command::Outcome::Release(5000)).await.unwrap();
    b.advance(seconds(5)).await;
    b.change(Cancel(id)).await.unwrap();
    let frames = all.take(6).await;
    assert_eq!(
        moves(&frames),
        ["->pending", "pending>available", "available>active", "active>retryable", "retryable>available", "available>cancelled"]
    );
    // The log shows them to no other reader.
    let (events, _, _) = b.events(EventFilter::default()).await;
    assert!(events.iter().all(|event| !event.name.is_empty()));
}

async fn a_queue_channel_tells_of_its_own_jobs_and_pauses(b: Bench) {
    b.job().await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    let mut listener = listen(&b, "/queues/q/events", None).await;
    // A worker with the name of the queue is not the queue.
    b.beat("q", &[]).await;
    b.claim_for(None, &["other", "q"], 2).await;
    for paused in [true, false] {
        b.engine.store().execute(SetPaused { queue: "q".into(), paused }).await.unwrap();
    }
    let frames = listener.take(4).await;
    assert_eq!(names(&frames), ["job.state_changed", "job.started", "queue.paused", "queue.resumed"]);
    assert_eq!(frames[2].data["queue"], "q");
}

async fn the_firehose_filters(b: Bench) {
    let mut some = listen(&b, "/events/stream?types=job.*&queues=q&job_types=t", None).await;
    let mut started = listen(&b, "/events/stream?types=job.started,worker.started", None).await;
    b.enqueue(r#"{"type":"u","args":[],"options":{"queue":"q"}}"#).await;
    b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"other"}}"#).await;
    b.beat("w", &[]).await;
    let id = b.job().await;
    b.claim_for(None, &["q"], 2).await;
    let frames = some.take(2).await;
    assert_eq!(names(&frames), ["job.enqueued", "job.started"]);
    let envelope = &frames[0].data;
    assert_eq!((&envelope["type"], &envelope["subject"]), (&json!("job.enqueued"), &json!(id.to_string())));
    assert_eq!((&envelope["id"], &envelope["specversion"]), (&json!(frames[0].id), &json!("1.0")));
    assert_eq!(envelope["data"]["queue"], "q");
    assert_eq!(names(&started.take(3).await), ["worker.started", "job.started", "job.started"]);
}

async fn a_listener_resumes_where_it_stopped(b: Bench) {
    let mut listener = listen(&b, "/events/stream", None).await;
    // Cut off before its first event: it still knows where it was.
    let start = listener.start.clone();
    for _ in 0..300 {
        b.job().await;
    }
    let first = listener.take(10).await;
    drop(listener);
    b.claim(300).await;
    let (all, _, _) = b.events(EventFilter::default()).await;
    let expected: Vec<&String> = all.iter().map(|event| &event.id).collect();
    let mut again = listen(&b, "/events/stream?since=0.0", Some(&first[9].id)).await;
    let rest = again.take(590).await;
    assert_eq!(first.iter().chain(&rest).map(|frame| &frame.id).collect::<Vec<_>>(), expected, "no event lost, none twice");
    let mut whole = listen(&b, "/events/stream", Some(&start)).await;
    assert_eq!(whole.take(600).await.iter().map(|frame| &frame.id).collect::<Vec<_>>(), expected);
    // And then it is live.
    let id = b.job().await;
    for listener in [&mut again, &mut whole] {
        assert_eq!(listener.next().await.unwrap().data["subject"], id.to_string());
    }
}

async fn half_of_an_event_is_told_again_after_a_cut(b: Bench) {
    let id = b.job().await;
    let mut listener = listen(&b, "/queues/q/events", None).await;
    b.claim(1).await;
    let frames = listener.take(2).await;
    assert_eq!(names(&frames), ["job.state_changed", "job.started"]);
    let mut again = listen(&b, &format!("/jobs/{id}/events"), Some(&frames[0].id)).await;
    assert_eq!(again.take(2).await, frames, "the second half may not have arrived");
    let mut after = listen(&b, &format!("/jobs/{id}/events"), Some(&frames[1].id)).await;
    b.beat("w", &[(id, None)]).await;
    assert_eq!(after.next().await.unwrap().event, "job.heartbeat");
}

async fn a_stream_may_begin_at_a_time(b: Bench) {
    for _ in 0..50 {
        b.job().await;
        b.advance(seconds(1)).await;
    }
    let mut listener = listen(&b, "/events/stream?since=2026-01-01T00:00:40Z", None).await;
    let frames = listener.take(10).await;
    assert_eq!(frames[0].data["time"], "2026-01-01T00:00:40.000Z");
    assert_eq!(frames[9].data["time"], "2026-01-01T00:00:49.000Z");
}

async fn a_job_that_has_ended_is_told_once(b: Bench) {
    let id = b.job_in(JobState::Completed).await;
    let path = format!("/jobs/{id}/events");
    let mut listener = listen(&b, &path, None).await;
    let frames = listener.rest().await;
    assert_eq!(moves(&frames), ["active>completed"]);
    assert_eq!(frames.len(), 1);
    // An EventSource comes back by itself with the last id: then there is nothing more, and no reason to come again.
    assert_eq!(get(&b.engine, &path, Some(&frames[0].id)).await.status(), 204);
    // Somebody who was cut off earlier hears the rest.
    let mut early = listen(&b, &path, Some("0.0")).await;
    assert_eq!(moves(&early.rest().await), ["->available", "available>active", "active>completed"]);
}

async fn what_was_pruned_is_a_gap(b: Bench) {
    b.job().await;
    let (events, _, _) = b.events(EventFilter::default()).await;
    b.job().await;
    b.advance(seconds(8 * 86_400)).await;
    b.job().await;
    b.advance(seconds(600)).await;
    let (kept, _, _) = b.events(EventFilter::default()).await;
    assert!(kept.iter().all(|event| event.id != events[0].id), "it was pruned");
    let mut listener = listen(&b, "/events/stream", Some(&events[0].id)).await;
    let frames = listener.take(2).await;
    assert_eq!(names(&frames), ["system.gap", "job.enqueued"]);
    assert_eq!((&frames[0].data["gap_start"], &frames[0].data["channel"]), (&json!(events[0].id), &json!("all")));
    assert_eq!(frames[0].data["gap_end"], json!(frames[1].id), "the first that can still be had");
}

async fn an_id_of_another_server_is_a_gap(b: Bench) {
    let id = b.job().await;
    for foreign in ["evt_0042", "evt_019b7e0a-0000-7000-bfff-ffffffffffff"] {
        let mut listener = listen(&b, &format!("/jobs/{id}/events"), Some(foreign)).await;
        let frame = listener.next().await.unwrap();
        assert_eq!((frame.event.as_str(), &frame.data["gap_start"]), ("system.gap", &json!(foreign)));
        assert_eq!(frame.data["channel"], format!("job:{id}"));
        b.beat("w", &[]).await;
        drop(listener);
    }
}

async fn a_slow_reader_is_told_what_it_lost(b: Bench) {
    let mut listener = listen(&b, "/events/stream", None).await;
    // More than the buffer and what is on its way to the reader, who does not read meanwhile. The commits of a round are seen by
    // the second listener before the next round: then the follower has been there.
    let mut witness = listen(&b, "/events/stream", None).await;
    let request = r#"{"type":"t","args":[],"options":{"queue":"q"}}"#;
    for _ in 0..20 {
        b.try_enqueue(&vec![request; 500]).await.unwrap();
        witness.take(500).await;
    }
    let mut seen = 0_u64;
    let lost = loop {
        let frame = listener.next().await.unwrap();
        if frame.event == "system.events_dropped" {
            break frame;
        }
        seen += 1;
    };
    let count = lost.data["dropped_count"].as_u64().unwrap();
    assert!(count > 0 && lost.data["channel"] == "all" && lost.data["timestamp"].is_string(), "{lost:?}");
    let rest = listener.take(usize::try_from(10_000 - seen - count).unwrap()).await;
    assert!(rest.iter().all(|frame| frame.event == "job.enqueued"), "told once, and nothing more is missing");
    // What was lost can still be had from the log.
    let after = ojs_engine::Place::parse(lost.data["oldest_dropped_id"].as_str().unwrap()).unwrap();
    let (events, _, _) = b.events(EventFilter { after, limit: 1000, ..EventFilter::default() }).await;
    assert!(!events.is_empty());
}

async fn unknown_subjects_are_404_in_json(b: Bench) {
    for path in ["/jobs/019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f/events", "/jobs/odd/events", "/queues/unknown/events"] {
        let response = get(&b.engine, path, None).await;
        assert_eq!(response.status(), 404, "{path}");
        assert_eq!(response.headers()["content-type"], "application/openjobspec+json");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["code"], "not_found");
    }
    // It is there before its first use.
    assert_eq!(get(&b.engine, "/queues/default/events", None).await.status(), 200);
}

async fn bad_parameters_are_refused(b: Bench) {
    for query in ["channel=nonsense", "channel=queue:A%20B", "since=yesterday", "summary=perhaps", "summary=true&queues=q"] {
        assert_eq!(get(&b.engine, &format!("/events/stream?{query}"), None).await.status(), 400, "{query}");
    }
}

async fn closing_says_goodbye(b: Bench) {
    let mut listener = listen(&b, "/events/stream", None).await;
    b.engine.close().await;
    let frames = listener.rest().await;
    assert_eq!(names(&frames), ["server.shutdown"]);
    assert!(frames[0].data["grace_period_ms"].as_u64().unwrap() <= 5000);
    assert_eq!(get(&b.engine, "/events/stream", None).await.status(), 503);
}

async fn without_listeners_nothing_runs(b: Bench) {
    // Many come and go; the last one still hears, and a hundred at a time are all that are let in.
    for _ in 0..3 {
        let mut listeners = Vec::new();
        for _ in 0..100 {
            listeners.push(listen(&b, "/events/stream", None).await);
        }
        assert_eq!(get(&b.engine, "/events/stream", None).await.status(), 429);
        let id = b.job().await;
        for listener in &mut listeners {
            assert_eq!(listener.next().await.unwrap().data["subject"], id.to_string());
        }
        drop(listeners);
        let free = async {
            while get(&b.engine, "/events/stream", None).await.status() != 200 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, free).await.expect("places are given back");
    }
}

async fn a_result_is_streamed_when_it_is_there(b: Bench) {
    let id = b.job().await;
    let path = format!("/jobs/{id}/result/stream");
    let mut listener = listen(&b, &path, None).await;
    let job = b.claim(1).await.remove(0);
    b.beat("w", &[(id, None)]).await;
    b.settle(id, Some(job.row.lease), ojs_engine::command::Outcome::Ack(Some("{\"n\":1}".into()))).await.unwrap();
    let frames = listener.rest().await;
    assert_eq!(names(&frames), ["result"]);
    assert_eq!((&frames[0].data["job_id"], &frames[0].data["result"]), (&json!(id.to_string()), &json!({"n": 1})));
    // And for those who come late.
    assert_eq!(names(&listen(&b, &path, None).await.rest().await), ["result"]);
    let failed = b.job_in(JobState::Discarded).await;
    let frames = listen(&b, &format!("/jobs/{failed}/result/stream"), None).await.rest().await;
    assert_eq!(names(&frames), ["error"]);
    assert_eq!((&frames[0].data["state"], &frames[0].data["error"]["code"]), (&json!("discarded"), &json!("x")));
    assert_eq!(get(&b.engine, "/jobs/odd/result/stream", None).await.status(), 404);
}

async fn progress_is_streamed_to_the_end_of_the_job(b: Bench) {
    let id = b.job().await;
    let job = b.claim(1).await.remove(0);
    let mut listener = listen(&b, &format!("/jobs/{id}/progress/stream"), None).await;
    let report = async |body: &str| assert_eq!(b.http("PUT", &format!("/jobs/{id}/progress"), body).await.0, 200);
    report(r#"{"progress":0.25,"message":"a quarter"}"#).await;
    let first = listener.next().await.unwrap();
    assert_eq!(
        (first.event.as_str(), &first.data["progress"], &first.data["message"]),
        ("progress", &json!(0.25), &json!("a quarter"))
    );
    // Not written one by one: the rest of it is written when the second is over, without a further report.
    report(r#"{"progress":0.5}"#).await;
    report(r#"{"progress":0.75}"#).await;
    b.clock.advance(seconds(1));
    assert_eq!(listener.next().await.unwrap().data["progress"], 0.75);
    let mut late = listen(&b, &format!("/jobs/{id}/progress/stream"), None).await;
    assert_eq!(late.next().await.unwrap().data["progress"], 0.75, "what is known comes first");
    b.ack(&job).await.unwrap();
    for listener in [&mut listener, &mut late] {
        let rest = listener.rest().await;
        let last = rest.last().unwrap();
        assert_eq!(
            (last.event.as_str(), &last.data["progress"], &last.data["state"]),
            ("completed", &json!(1.0), &json!("completed"))
        );
    }
    for (state, event) in [(JobState::Discarded, "failed"), (JobState::Cancelled, "cancelled")] {
        let ended = b.job_in(state).await;
        let mut listener = listen(&b, &format!("/jobs/{ended}/progress/stream"), None).await;
        assert_eq!(names(&listener.rest().await), [event]);
    }
    assert_eq!(get(&b.engine, &format!("/jobs/{}/progress/stream", ojs_model::JobId::now_v7()), None).await.status(), 404);
}

async fn summary(b: &Bench, tenant: Option<&str>) -> Listener {
    let mut request = Request::get("/ojs/v1/events/stream?summary=true");
    if let Some(tenant) = tenant {
        request = request.header("x-ojs-tenant", tenant);
    }
    let response = b.engine.router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut listener = Listener::of(response.into_body());
    assert_eq!(listener.block().await.unwrap(), "retry: 3000");
    listener
}

async fn a_summary_says_once_a_second_that_something_has_happened(b: Bench) {
    let mut listener = summary(&b, None).await;
    let began = std::time::Instant::now();
    let mut jobs = 0;
    while began.elapsed() < Duration::from_millis(2_500) {
        b.try_enqueue(&[r#"{"type":"t","args":[],"options":{"queue":"q"}}"#; 50]).await.unwrap();
        jobs += 50;
    }
    // Its channel has room for one frame: those that were not read are not made.
    for _ in 0..2 {
        assert_eq!(listener.block().await.unwrap(), "event: changed\ndata: {}");
    }
    assert!(jobs >= 100 && began.elapsed() >= Duration::from_secs(2), "two frames are two seconds");
    let metrics = b.engine.openmetrics().await.unwrap();
    assert!(metrics.contains("\nojs_event_streams 1"), "{metrics}");
    b.engine.close().await;
    while let Some(block) = listener.block().await {
        assert_eq!(block, "event: changed\ndata: {}");
    }
}

async fn a_summary_of_a_tenant_tells_nothing_of_others(b: Bench) {
    let (mut all, mut acme) = (summary(&b, None).await, summary(&b, Some("acme")).await);
    let of = |tenant: &str| format!(r#"{{"type":"t","args":[],"meta":{{"tenant_id":"{tenant}"}},"options":{{"queue":"q"}}}}"#);
    b.enqueue(&of("other")).await;
    assert_eq!(all.block().await.unwrap(), "event: changed\ndata: {}");
    assert!(acme.block().now_or_never().is_none(), "a job of another tenant");
    b.enqueue(&of("acme")).await;
    assert_eq!(acme.block().await.unwrap(), "event: changed\ndata: {}");
}
