//! The table of dialects: each of its rows has a driver here, and clients without a row get the specification's form.
use serde_json::{Value, json};

use super::{OJS, Sdk};

const TABLE: &str = include_str!("../../../../core/engine/src/http/dialects/table.json");

#[test]
fn each_row_has_a_driver_and_a_line_in_the_reference() {
    let drivers = [
        ("openjobspec/ojs-js-sdk", include_str!("js.rs")),
        ("openjobspec/ojs-python-sdk", include_str!("python.rs")),
        ("openjobspec/ojs-go-sdk", include_str!("go.rs")),
        ("openjobspec/ojs-ruby-sdk", include_str!("ruby.rs")),
        ("openjobspec/ojs-java-sdk", include_str!("java.rs")),
        ("openjobspec/ojs-rust-sdk", include_str!("rust.rs")),
    ];
    let page = include_str!("../../../../docs/reference/other-implementations.md");
    let table: Vec<Value> = serde_json::from_str(TABLE).unwrap();
    assert_eq!(table.len(), drivers.len());
    for (row, (client, driver)) in table.iter().zip(drivers) {
        assert_eq!(row["client"], client);
        assert!(driver.starts_with(&format!("//! `{client}`")), "{client}");
        let line = page.lines().find(|line| line.contains(client)).unwrap_or_else(|| panic!("{client} has no line in the page"));
        assert!(line.contains(row["versions"].as_str().unwrap()), "{line}");
        let agent = row["user_agent"].as_str().unwrap_or("none");
        assert!(line.contains(agent), "{line}");
    }
}

/// The form of the specification and of the conformance suite, which other clients read.
#[tokio::test]
async fn who_has_no_row_gets_the_form_of_the_specification() {
    let mut sdk = Sdk::new(&[("Accept", OJS), ("Content-Type", OJS), ("OJS-Version", "1.0"), ("User-Agent", "curl/8.5.0")]).await;
    let answer = sdk.send("POST", "/jobs", Some(json!({"type": "t.one", "args": []}))).await.expect(201);
    assert_eq!(answer.header("content-type"), Some(OJS));
    let members: Vec<String> = answer.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["job"]);
    let stats = sdk.send("GET", "/queues/default/stats", None).await.expect(200).json();
    assert_eq!((&stats["queue"]["name"], &stats["queue"]["available"]), (&json!("default"), &json!(1)));
    let manifest = sdk.raw("GET", "/ojs/manifest", None).await.expect(200).json();
    assert!(manifest["extensions"]["official"].is_array());
    let list = sdk.send("GET", "/cron", None).await.expect(200).json();
    assert!(list.get("entries").is_none() && list["crons"].is_array());
}

/// A refusal has the same form for every client.
#[tokio::test]
async fn refusals_and_answers_to_unknown_paths_are_those_of_everybody() {
    let headers: &[(&str, &str)] =
        &[("Accept", OJS), ("Content-Type", OJS), ("OJS-Version", "1.0"), ("User-Agent", "ojs-ruby/0.1.0 ruby/3.3.8")];
    let mut sdk = Sdk::new(headers).await;
    let error = sdk.send("POST", "/jobs", Some(json!({"type": "", "args": []}))).await.expect(400).json();
    assert!(error["error"]["code"].is_string() && error.get("id").is_none(), "{error}");
    sdk.raw("GET", "/ojs/v2/jobs", None).await.expect(404);
}
