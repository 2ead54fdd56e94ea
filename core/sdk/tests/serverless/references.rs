//! The vectors of all languages: what servers answer about a job that a message refers to, and how a run that takes too
//! long has failed.
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use ojs::serverless::LambdaHandler;
use ojs::{HandlerError, JobContext};
use serde_json::{Value, json};

use crate::{STANDARD, alone, failures, sqs};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../tests/vectors/serverless_reference.json")).unwrap()
}

/// A server that answers as a vector says, and what it is asked.
#[derive(Clone)]
struct Answers {
    case: Arc<Value>,
    answer: Arc<Value>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Answers {
    async fn start(case: &Value, answer: &Value) -> (Self, String) {
        let given = |value: &Value| Arc::new(value.clone());
        let answers = Self { case: given(case), answer: given(answer), asked: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(Self::reply).with_state(answers.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (answers, url)
    }

    async fn reply(State(answers): State<Self>, request: Request) -> (StatusCode, String) {
        let path = request.uri().path().to_owned();
        answers.asked.lock().unwrap().push(format!("{} {path}", request.method()));
        if request.method() != Method::GET {
            return (StatusCode::OK, "{}".to_owned());
        }
        let (name, found) = match path.ends_with("/checkpoint") {
            true => ("checkpoint", answers.case["checkpoint"].clone()),
            false => ("job", json!({"job": answers.case["job"]})),
        };
        match &answers.answer[name] {
            Value::Null => (StatusCode::OK, found.to_string()),
            said => {
                let status = u16::try_from(said["status"].as_u64().unwrap()).unwrap();
                (StatusCode::from_u16(status).unwrap(), said["body"].as_str().unwrap().to_owned())
            }
        }
    }
}

#[tokio::test]
async fn references_end_as_the_answers_of_the_vectors_say() {
    let vectors = vectors();
    let case = &vectors["cases"].as_array().unwrap().iter().find(|case| case["message"]["checkpoint_ref"] == true).unwrap();
    for answer in vectors["answers"].as_array().unwrap() {
        let (answers, url) = Answers::start(case, answer).await;
        let handler: LambdaHandler = LambdaHandler::builder().ojs_url(&url).build().await.unwrap();
        let saved = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&saved);
        handler
            .register("email.send", move |ctx: JobContext| {
                noted.lock().unwrap().push(ctx.load_checkpoint::<Value>());
                async { Ok::<(), HandlerError>(()) }
            })
            .unwrap();
        let said = handler.handle_sqs(sqs(&[case["message"].clone()], STANDARD, &[], 1), None).await.unwrap();
        let ran = saved.lock().unwrap().drain(..).collect::<Vec<_>>();
        let ends = match (failures(&said).len(), ran.len()) {
            (0, 1) => "runs",
            (0, 0) => "gone",
            (1, 0) => "again",
            other => panic!("{}: {other:?}", answer["name"]),
        };
        assert_eq!(answer["ends"], ends, "{}", answer["name"]);
        if ends == "runs" {
            let expected = answer["checkpoint"].is_null().then(|| case["checkpoint"]["state"].clone());
            assert_eq!(ran[0].as_ref().unwrap(), &expected, "{}", answer["name"]);
        }
        let settled = answers.asked.lock().unwrap().iter().filter(|call| call.starts_with("POST")).cloned().collect::<Vec<_>>();
        let acked: &[&str] = if ends == "runs" { &["POST /ojs/v1/workers/ack"] } else { &[] };
        assert_eq!(settled, acked, "{}", answer["name"]);
    }
}

#[tokio::test]
async fn a_timeout_has_the_error_of_the_vectors() {
    let vectors: Value = serde_json::from_str(include_str!("../../../../tests/vectors/serverless_timeout.json")).unwrap();
    let (handler, _) = alone().await;
    handler.register("slow", |_: JobContext| std::future::pending::<Result<(), HandlerError>>()).unwrap();
    let slow = json!({"id": "1", "type": "slow", "args": []});
    let told = handler.handle_direct(slow, SystemTime::now() + Duration::from_millis(20)).await.unwrap();
    for (name, value) in vectors["error"].as_object().unwrap() {
        assert_eq!(&told["error"][name], value, "{name}");
    }
}
