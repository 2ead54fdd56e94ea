//! Figures of job types: counted by type, sorted, kept by minutes and then by hours.
use ojs_engine::command::Reset;
use ojs_model::Timestamp;
use serde_json::{Value, json};

use crate::support::{Bench, seconds};

crate::on_every_store!(
    each_type_has_its_own_figures,
    the_order_and_the_number_of_types_can_be_chosen,
    figures_that_are_not_written_yet_are_told_too,
    minutes_of_types_become_hours_and_end,
    wrong_questions_are_refused,
);

impl Bench {
    async fn types(&self, query: &str) -> Value {
        let (status, body) = self.http("GET", &format!("/admin/stats/types?{query}"), "").await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Runs one job of a type for this time; the job completes, or fails for good.
    async fn ran(&self, kind: &str, millis: u64, completes: bool) {
        self.enqueue(&format!(r#"{{"type":"{kind}","args":[],"options":{{"queue":"q","retry":{{"max_attempts":1}}}}}}"#)).await;
        let job = self.claim(1).await.remove(0);
        self.advance(std::time::Duration::from_millis(millis)).await;
        if completes {
            self.ack(&job).await.unwrap();
        } else {
            self.nack(&job, r#"{"code":"x","message":"m"}"#).await.unwrap();
        }
    }

    fn at(&self, back: u64) -> String {
        Timestamp::from_millis(self.now() - i64::try_from(seconds(back).as_millis()).unwrap()).to_string()
    }
}

fn names(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect()
}

async fn each_type_has_its_own_figures(b: Bench) {
    b.ran("slow", 4_000, true).await;
    b.ran("quick", 100, true).await;
    b.ran("quick", 100, true).await;
    b.ran("broken", 10, false).await;
    let answer = b.types("").await;
    assert_eq!((names(&answer), &answer["total"]), (vec!["quick", "slow", "broken"], &json!(3)));
    let told: Vec<_> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| ["enqueued", "processed", "failed", "discarded"].map(|name| item[name].as_i64().unwrap()))
        .collect();
    assert_eq!(told, [[2, 2, 0, 0], [1, 1, 0, 0], [1, 0, 1, 1]]);
    let [quick, slow, broken] = [0, 1, 2].map(|at: usize| &answer["items"][at]);
    let near = |value: &Value, wanted: f64| (wanted * 0.9..=wanted * 1.1).contains(&value.as_f64().unwrap());
    assert!(near(&quick["latency_ms"]["p50"], 100.0) && near(&slow["latency_ms"]["p99"], 4_000.0), "{answer}");
    assert!(near(&quick["busy_ms"], 200.0) && near(&slow["busy_ms"], 4_000.0), "{answer}");
    assert_eq!((&broken["latency_ms"]["p50"], &broken["busy_ms"]), (&Value::Null, &json!(0.0)));
}

async fn the_order_and_the_number_of_types_can_be_chosen(b: Bench) {
    b.ran("a", 4_000, true).await;
    b.ran("b", 100, true).await;
    b.ran("b", 100, true).await;
    b.ran("c", 10, false).await;
    for (sort, wanted) in
        [("busy", ["a", "b", "c"]), ("latency", ["a", "b", "c"]), ("failed", ["c", "a", "b"]), ("enqueued", ["b", "a", "c"])]
    {
        assert_eq!(names(&b.types(&format!("sort={sort}")).await), wanted, "{sort}");
    }
    let first = b.types("sort=busy&limit=1").await;
    assert_eq!((names(&first), &first["total"], &first["has_more"]), (vec!["a"], &json!(3), &json!(true)));
}

async fn figures_that_are_not_written_yet_are_told_too(b: Bench) {
    b.ran("a", 10, true).await;
    assert_eq!(b.types("").await["items"][0]["processed"], 1);
    b.advance(seconds(0)).await;
    b.ran("a", 10, true).await;
    assert_eq!(b.types("").await["items"][0]["processed"], 2, "counted once");
    b.advance(seconds(0)).await;
    assert_eq!(b.types("").await["items"][0]["processed"], 2);
    b.engine.store().execute(Reset).await.unwrap();
    assert_eq!(b.types("").await["items"], json!([]));
}

async fn minutes_of_types_become_hours_and_end(b: Bench) {
    b.ran("a", 10, true).await;
    b.advance(seconds(60)).await;
    b.ran("a", 10, true).await;
    b.advance(seconds(0)).await;
    b.advance(seconds(4 * 3600)).await;
    b.advance(seconds(301)).await;
    assert_eq!(b.types("").await["items"], json!([]), "the last hour is empty");
    let answer = b.types(&format!("since={}", b.at(6 * 3600))).await;
    assert_eq!((names(&answer), &answer["items"][0]["processed"]), (vec!["a"], &json!(2)));
    b.advance(seconds(31 * 24 * 3600)).await;
    b.advance(seconds(301)).await;
    let answer = b.types(&format!("since={}&until={}", b.at(32 * 24 * 3600), b.at(26 * 24 * 3600))).await;
    assert_eq!(answer["items"], json!([]), "kept for a month");
}

async fn wrong_questions_are_refused(b: Bench) {
    for (query, field) in [
        ("sort=colour".to_owned(), "sort"),
        (format!("since={}", b.at(8 * 24 * 3600)), "since"),
        ("since=soon".to_owned(), "since"),
    ] {
        let (status, body) = b.http("GET", &format!("/admin/stats/types?{query}"), "").await;
        assert_eq!((status, &body["error"]["details"]["field"]), (400, &json!(field)), "{body}");
    }
}
