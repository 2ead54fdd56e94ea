//! What the engine says to policies, right and wrong, and the keys of unique jobs, byte for byte.
use bytes::Bytes;
use ojs::Client;
use ojs_abi::error::AbiError;
use serde_json::{Value, json};

/// Fills in what is expected.
pub async fn make(vectors: &mut Value) {
    for case in vectors["policies"].as_array_mut().unwrap() {
        case["error"] = refusal(case).await;
    }
    for case in vectors["keys"].as_array_mut().unwrap() {
        case["key"] = key(case).await;
    }
}

/// Class, code and field of the refusal; null for none.
async fn refusal(case: &Value) -> Value {
    let client = Client::connect("memory:").await.unwrap();
    let request = json!({"type": case["type"], "args": case["args"], "options": case["options"]});
    match client.enqueue_raw(Bytes::from(request.to_string())).await {
        Ok(_) => Value::Null,
        Err(error) => {
            let error = AbiError::Sdk(error);
            let object = error.to_object();
            json!({"class": error.class() as i32, "code": object["code"], "field": object["details"]["field"]})
        }
    }
}

/// The key that makes a second job of the same kind a duplicate.
async fn key(case: &Value) -> Value {
    let client = Client::connect("memory:").await.unwrap();
    let mut options = case["options"].as_object().unwrap().clone();
    let mut unique = case["unique"].clone();
    unique["on_conflict"] = json!("reject");
    let mut request = json!({"type": case["type"], "args": case["args"]});
    if let Some(meta) = options.remove("meta") {
        request["meta"] = meta;
    }
    options.insert("unique".to_owned(), unique);
    request["options"] = options.into();
    client.enqueue_raw(Bytes::from(request.to_string())).await.unwrap();
    let error = client.enqueue_raw(Bytes::from(request.to_string())).await.unwrap_err();
    AbiError::Sdk(error).to_object()["details"]["unique_key"].clone()
}
