use ojs_engine::command::GetJob;
use ojs_engine::error::Refusal;
use ojs_model::{JobId, JobState};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    first_states,
    a_duplicate_id_is_refused,
    a_batch_is_stored_whole_or_not_at_all,
    a_batch_with_the_same_id_twice_stores_nothing,
    a_schedule_fires_when_its_time_comes,
    an_expired_job_never_starts,
    expiry_ends_with_the_first_start,
);

async fn first_states(b: Bench) {
    for (options, state) in [
        ("{}", JobState::Available),
        (r#"{"delay_until":"+PT5S"}"#, JobState::Scheduled),
        (r#"{"delay_until":"2020-01-01T00:00:00Z"}"#, JobState::Available),
        (r#"{"pending":true}"#, JobState::Pending),
        (r#"{"pending":true,"delay_until":"+PT5S"}"#, JobState::Pending),
        (r#"{"expires_at":"2020-01-01T00:00:00Z"}"#, JobState::Discarded),
    ] {
        let id = b.enqueue(&format!(r#"{{"type":"t","args":[],"options":{options}}}"#)).await;
        let row = b.get(id).await.row;
        assert_eq!(row.state, state, "{options}");
        assert_eq!((row.attempt, row.created_at), (0, b.now()));
        assert_eq!(row.enqueued_at > 0, state == JobState::Available, "{options}");
    }
}

async fn a_duplicate_id_is_refused(b: Bench) {
    let id = JobId::now_v7();
    let request = format!(r#"{{"id":"{id}","type":"t","args":[1]}}"#);
    b.enqueue(&request).await;
    let Err(Refusal::Ojs(error)) = b.try_enqueue(&[&request]).await else { panic!("accepted twice") };
    assert!(error.is_duplicate());
    assert_eq!(error.details.unwrap()["existing_job_id"], id.to_string());
    assert_eq!(b.counts("default").await[JobState::Available as usize], 1);
}

async fn a_batch_is_stored_whole_or_not_at_all(b: Bench) {
    let known = b.enqueue(r#"{"type":"t","args":[]}"#).await;
    let fresh = JobId::now_v7();
    let requests = [
        format!(r#"{{"id":"{fresh}","type":"t","args":[]}}"#),
        r#"{"type":"u","args":[],"options":{"queue":"other"}}"#.to_owned(),
        format!(r#"{{"id":"{known}","type":"t","args":[]}}"#),
    ];
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    let Err(Refusal::Ojs(error)) = b.try_enqueue(&requests).await else { panic!("half a batch") };
    assert_eq!(error.details.unwrap()["index"], 2);
    assert!(matches!(b.engine.store().query(GetJob(fresh)).await, Err(Refusal::Ojs(error)) if error.status == 404));
    assert_eq!(b.counts("default").await.iter().sum::<i64>(), 1);
    assert_eq!(b.counts("other").await.iter().sum::<i64>(), 0);
    assert_eq!(b.claim_for(None, &["default", "other"], 10).await.len(), 1);
    // The id that was taken back is free again.
    assert!(b.try_enqueue(&requests[..2]).await.is_ok());
}

async fn a_batch_with_the_same_id_twice_stores_nothing(b: Bench) {
    let twin = format!(r#"{{"id":"{}","type":"t","args":[]}}"#, JobId::now_v7());
    assert!(matches!(b.try_enqueue(&[&twin, &twin]).await, Err(Refusal::Ojs(_))));
    assert_eq!(b.counts("default").await.iter().sum::<i64>(), 0);
}

async fn a_schedule_fires_when_its_time_comes(b: Bench) {
    let late = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","delay_until":"+PT10S"}}"#).await;
    let early = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","delay_until":"+PT5S"}}"#).await;
    b.advance(seconds(4)).await;
    assert!(b.claim(10).await.is_empty());
    b.advance(seconds(1)).await;
    let first = b.job().await;
    b.advance(seconds(5)).await;
    let order: Vec<JobId> = b.claim(10).await.iter().map(|job| job.row.id).collect();
    assert_eq!(order, [early, first, late], "the place in line is the time of promotion");
}

async fn an_expired_job_never_starts(b: Bench) {
    let ready = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","expires_at":"+PT5S"}}"#).await;
    let waiting = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","expires_at":"+PT5S","delay_until":"+PT1H"}}"#).await;
    let healthy = b.job().await;
    b.clock.advance(seconds(5));
    // No sweep yet: the claim itself must not hand it out.
    let claimed: Vec<JobId> = b.claim(10).await.iter().map(|job| job.row.id).collect();
    assert_eq!(claimed, [healthy]);
    b.advance(seconds(0)).await;
    for id in [ready, waiting] {
        let view = b.get(id).await;
        assert_eq!(view.row.state, JobState::Discarded);
        assert!(view.history.errors.contains("\"type\":\"expired\""));
        assert!(b.story(id).await.contains(&"job.expired".to_owned()));
    }
    assert_eq!(b.dead(Default::default()).await.1, 0, "expiry is no failure");
}

async fn expiry_ends_with_the_first_start(b: Bench) {
    let id = b.enqueue(r#"{"type":"t","args":[],"options":{"queue":"q","expires_at":"+PT5S"}}"#).await;
    let job = b.claim(1).await.remove(0);
    b.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
    b.advance(seconds(60)).await;
    assert_eq!(b.state(id).await, JobState::Available);
}
