//! Compares refusals with the declarations in xtask/operations, as the OpenAPI document has them.
use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

/// The document as `make gen` writes it.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/http/openapi.json");

static DECLARED: LazyLock<Declared> = LazyLock::new(Declared::read);

/// What operations may be refused with.
struct Declared {
    /// The codes that every operation has.
    common: BTreeSet<String>,
    operations: Vec<Operation>,
}

/// One route of an operation.
struct Operation {
    method: String,
    path: String,
    errors: BTreeSet<String>,
}

impl Declared {
    fn read() -> Self {
        let document: Value = serde_json::from_slice(&std::fs::read(DOCUMENT).unwrap()).unwrap();
        let codes = |list: &Value| list.as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()).collect();
        let mut operations = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let (method, path) = (method.to_ascii_uppercase(), path.clone());
                operations.push(Operation { method, path, errors: codes(&operation["x-error-codes"]) });
            }
        }
        Self { common: codes(&document["x-common-error-codes"]), operations }
    }

    /// The operation that the router takes. A literal segment of a path wins against a parameter.
    fn operation(&self, method: &str, path: &str) -> Option<&Operation> {
        let fitting = self.operations.iter().filter(|operation| operation.method == method && operation.fits(path));
        fitting.min_by_key(|operation| operation.path.matches('{').count())
    }
}

impl Operation {
    fn fits(&self, path: &str) -> bool {
        let (mut own, mut asked) = (self.path.split('/'), path.split('/'));
        loop {
            match (own.next(), asked.next()) {
                (None, None) => return true,
                (Some(own), Some(asked)) if own == asked || own.starts_with('{') && !asked.is_empty() => {}
                _ => return false,
            }
        }
    }
}

/// Fails when the answer is a refusal with a code that the operation does not declare. `path` is relative to `/ojs/v1`.
/// A request that no operation fits is not checked, and neither is an answer without an error, such as the items of a
/// batch.
pub fn check(method: &str, path: &str, status: u16, body: &Value) {
    let path = path.split('?').next().unwrap_or_default();
    let Some(operation) = DECLARED.operation(method, path).filter(|_| status >= 400) else { return };
    let Some(code) = body["error"]["code"].as_str() else { return };
    // Operations declare `invalid_state_transition` apart from the other reasons of the code `conflict`.
    let is_state = body["error"]["details"]["reason"] == "invalid_state_transition";
    let code = if is_state { "invalid_state_transition" } else { code };
    // Every operation refuses a request that is malformed as a whole. Such a refusal names no field.
    let is_malformed = matches!(code, "invalid_request" | "invalid_payload") && body["error"]["details"]["field"].is_null();
    let is_declared = is_malformed || operation.errors.contains(code) || DECLARED.common.contains(code);
    assert!(is_declared, "{method} {} does not declare the code {code:?} of this refusal: {status} {body}", operation.path);
}

#[test]
#[should_panic(expected = "GET /queues/{name}/stats does not declare the code \"conflict\"")]
fn a_code_that_is_not_declared_fails() {
    check("GET", "/queues/mail/stats?x=1", 409, &json!({"error": {"code": "conflict"}}));
}

#[test]
fn the_operation_is_found_by_its_path() {
    let path = |method: &str, path: &str| DECLARED.operation(method, path).map(|operation| operation.path.as_str());
    assert_eq!(path("POST", "/jobs/bulk"), Some("/jobs/bulk"));
    assert_eq!(path("POST", "/workers/ack"), Some("/workers/ack"));
    assert_eq!(path("GET", "/jobs/results"), Some("/jobs/{id}"), "a literal segment wins only where it fits");
    assert_eq!((path("GET", "/nowhere"), path("GET", "/jobs/")), (None, None));
}

#[test]
fn a_state_is_told_from_other_conflicts() {
    let conflict = |reason: &str| json!({"error": {"code": "conflict", "details": {"reason": reason}}});
    check("DELETE", "/jobs/1", 409, &conflict("invalid_state_transition"));
    let other = std::panic::catch_unwind(|| check("DELETE", "/jobs/1", 409, &conflict("stale_lease")));
    assert!(other.is_err());
}

#[test]
fn what_is_malformed_as_a_whole_names_no_field() {
    let refused = |field: Value| json!({"error": {"code": "invalid_payload", "details": {"field": field}}});
    check("GET", "/cron/digest", 400, &refused(Value::Null));
    assert!(std::panic::catch_unwind(|| check("GET", "/cron/digest", 400, &refused(json!("name")))).is_err());
}
