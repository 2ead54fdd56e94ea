//! Heartbeats of relays, and their list.
use ojs_tests::ServerProcess;
use serde_json::{Value, json};

#[tokio::test]
async fn a_relay_reports_is_listed_and_takes_leave() {
    let server = ServerProcess::memory().await;
    let mut wire = server.connect().await;
    wire.send("GET /ojs/manifest HTTP/1.1\r\nHost: test\r\n\r\n").await.unwrap();
    let offered = wire.answer().await.unwrap().expect(200).json();
    let own = offered["extensions"]["experimental"].as_array().unwrap();
    assert!(own.iter().any(|extension| extension["name"] == "x-relays"), "relays report only where it is named");
    let said = json!({"id": "r 1/ä", "name": "<b>shop</b>", "database": "postgresql", "waiting": 3, "sent": 7, "unknown": [1]});
    assert_eq!(wire.post("/relays/beat", &said).await.expect(200).json(), json!({"id": "r 1/ä", "stopping": false}));
    let list = wire.get("/admin/relays?state=running").await.expect(200).json();
    let row = &list["items"][0];
    assert_eq!((&row["id"], &row["name"], &row["waiting"]), (&json!("r 1/ä"), &json!("<b>shop</b>"), &json!(3)));
    assert_eq!((&row["error"], &row["outbox"], &row["leading"]), (&Value::Null, &json!(""), &json!(false)));
    let leave = json!({"id": "r 1/ä", "stopping": true});
    assert_eq!(wire.post("/relays/beat", &leave).await.expect(200).json()["stopping"], true);
    assert_eq!(wire.get("/admin/relays").await.expect(200).json()["items"], json!([]));
    let refused = wire.post("/relays/beat", &json!({"id": "r", "sent": "many"})).await.expect(400).json();
    assert_eq!(refused["error"]["details"]["field"], "sent");
}
