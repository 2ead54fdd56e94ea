//! Decisions about the outbox: whether the server shares the database, the statements, and what fakes record.
use ojs::testing::{matching, recorded};
use ojs_abi::{outbox, same_database};
use serde_json::{Value, json};

/// Plays one job that is to be enqueued: what is asked, and where the job goes.
fn call(case: &Value, state: &mut Value) -> Value {
    let mut event = json!({"state": state, "event": "begin", "value": case["wanted"]});
    let mut asked: Vec<Value> = Vec::new();
    loop {
        let next: Value = serde_json::from_str(&same_database::step(&event.to_string()).unwrap()).unwrap();
        *state = next["state"].clone();
        let Some(who @ ("database" | "server")) = next["next"].as_str() else {
            return json!({"asked": asked, "shared": next["shared"], "lasting": next["lasting"], "reason": next["reason"]});
        };
        asked.push(who.into());
        event = json!({"state": state, "event": who});
        for (name, value) in case[who].as_object().unwrap() {
            event[name] = value.clone();
        }
    }
}

/// Two jobs, one after the other: what each asks, and where it goes.
fn detection(case: &mut Value) {
    let mut state = Value::Null;
    case["calls"] = (0..2).map(|_| call(case, &mut state)).collect();
}

/// Statements that applications run.
fn statements(case: &mut Value) {
    let (database, table) = (case["database"].as_str().unwrap(), case["table"].as_str().unwrap());
    let made = outbox::migration(database, table).unwrap();
    let staged = outbox::staged_query(database, table, case["in_engine"] == true).unwrap();
    (case["migration"], case["staged"]) = (made.into(), staged.into());
    case["notify"] = ojs::outbox::same_database::NOTIFY.into();
}

/// What is recorded of some requests, and which of it some questions find.
fn fake(case: &mut Value) {
    let of = |job: &Value| {
        let texts = recorded("POST", "/jobs", job.to_string().as_bytes());
        texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect::<Vec<Value>>()
    };
    let jobs: Vec<Value> = case["jobs"].as_array().unwrap().iter().flat_map(of).collect();
    let text = Value::from(jobs.clone()).to_string();
    case["recorded"] = jobs.into();
    for question in case["questions"].as_array_mut().unwrap() {
        let found = matching(&text, &question["wanted"].to_string());
        question["error"] = found.as_ref().err().map_or(Value::Null, |error| error.to_string().into());
        question["found"] = found.map_or(Value::Null, |found| found.len().into());
    }
}

/// Fills in what is expected.
pub fn make(vectors: &mut Value) {
    vectors["detections"].as_array_mut().unwrap().iter_mut().for_each(detection);
    vectors["statements"].as_array_mut().unwrap().iter_mut().for_each(statements);
    vectors["fakes"].as_array_mut().unwrap().iter_mut().for_each(fake);
}
