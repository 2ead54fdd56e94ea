//! Requests of webhooks: which are to be trusted, and why the others are not.
use ojs_abi::webhook::verify;
use serde_json::{Value, json};

pub fn make(cases: &mut Value) {
    for case in cases.as_array_mut().unwrap() {
        let request = json!({
            "headers": case["headers"], "secrets": case["secrets"], "tolerance": case["tolerance"], "now": case["now"],
        });
        let refused = verify(case["body"].as_str().unwrap().as_bytes(), &request.to_string()).err();
        case["reason"] = refused.map_or(Value::Null, |error| error.to_object()["details"]["reason"].clone());
    }
}
