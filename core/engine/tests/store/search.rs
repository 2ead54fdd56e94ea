//! The search of job lists and of bulk operations: by arguments, metadata, tags, errors, and by what is excluded.
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::admin_http::{get, post};
use crate::support::Bench;

crate::on_every_store!(
    a_search_finds_exactly_what_it_says,
    a_search_goes_on_by_cursors_and_compares_a_bounded_number_of_jobs,
    long_arguments_end_a_step_early,
    a_misspelt_search_is_refused_with_its_place,
    a_bulk_operation_changes_what_a_search_finds,
    a_search_of_a_tenant_finds_its_jobs_only,
);

/// A text as a value of a query.
fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

async fn page(b: &Bench, search: &str, more: &str) -> Value {
    get(b, &format!("/admin/jobs?q={}{more}", escaped(search))).await
}

/// Some jobs with names, which a search is to find by what they carry.
async fn seed(b: &Bench) -> BTreeMap<String, &'static str> {
    let once = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
    let jobs = [
        (
            "ada",
            json!({"type": "mail.send", "args": [42, {"to": "Ada@example.com"}], "meta": {"customer": {"id": 7}},
            "options": {"queue": "mail", "tags": ["eu", "vip"], "retry": once}}),
        ),
        (
            "bob",
            json!({"type": "mail.send", "args": [421, {"to": "bob@example.com"}], "options": {"queue": "mail", "retry": once}}),
        ),
        ("low", json!({"type": "mail.send", "args": [42], "options": {"queue": "low", "retry": once}})),
        (
            "big",
            json!({"type": "report.build", "args": [9007199254740993_i64, ["x", "y"]],
            "options": {"queue": "reports", "priority": 5, "delay_until": "+PT1H"}}),
        ),
    ];
    // As some clients write what is not ASCII.
    let plain = r#"{"type":"report.mail","args":["a \"quoted\" caf\u00e9",null,true],"options":{"queue":"reports","delay_until":"+PT1H"}}"#;
    let mut names = BTreeMap::from([(b.enqueue(plain).await.to_string(), "plain")]);
    for (name, job) in jobs {
        names.insert(b.enqueue(&job.to_string()).await.to_string(), name);
    }
    let silent = r#"{"code":"x","type":"TimeoutError","message":"no answer from smtp-1"}"#;
    for (queue, error) in [("mail", silent), ("low", r#"{"code":"y","message":"full"}"#)] {
        for job in b.claim_for(None, &[queue], 5).await {
            b.nack(&job, error).await.unwrap();
        }
    }
    names
}

/// The names of what a search finds.
async fn found(b: &Bench, names: &BTreeMap<String, &'static str>, search: &str) -> Vec<&'static str> {
    let page = page(b, search, "").await;
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{search}: {page}"));
    assert_eq!(page["pagination"]["complete"], true, "{search}: {page}");
    let all: BTreeSet<&str> = items.iter().map(|job| names[job["id"].as_str().unwrap()]).collect();
    all.into_iter().collect()
}

async fn a_search_finds_exactly_what_it_says(b: Bench) {
    let names = seed(&b).await;
    for (search, wanted) in [
        ("args.0:42", &["ada", "low"][..]),
        ("args.0:42 state:discarded -queue:low", &["ada"]),
        ("args.0:42,421 queue:mail,low -args.1.to:bob@example.com", &["ada", "low"]),
        ("args.to:Ada@example.com", &["ada"]),
        ("args.1.to:ada@example.com", &[]),
        ("args:ada@EXAMPLE", &["ada"]),
        ("args.0:9007199254740993", &["big"]),
        ("args.1:y", &["big"]),
        ("args.1:null", &["plain"]),
        ("args.2:true type:report.*", &["plain"]),
        ("args:CAFÉ", &["plain"]),
        ("\"quoted\"", &["plain"]),
        ("meta.customer.id:7", &["ada"]),
        ("meta:customer", &["ada"]),
        ("-meta:customer state:discarded", &["bob", "low"]),
        ("tag:vip", &["ada"]),
        ("tag:nobody,eu", &["ada"]),
        ("error:timeout", &["ada", "bob"]),
        ("error:\"from smtp-1\" -tag:eu", &["bob"]),
        ("-error:timeout state:discarded", &["low"]),
        ("priority:>=5", &["big"]),
        ("priority:<5 state:scheduled", &["plain"]),
        ("attempt:1", &["ada", "bob", "low"]),
        ("attempt:>1", &[]),
        ("state:scheduled,discarded -type:mail.*", &["big", "plain"]),
        ("type:report.build", &["big"]),
        ("mail -type:report.*", &["ada", "bob", "low"]),
        ("smtp-1", &["ada", "bob"]),
        ("since:1h until:2999-01-01T00:00:00Z mail", &["ada", "bob", "low", "plain"]),
        ("until:1h", &[]),
        ("queue:none", &[]),
        ("-state:discarded -state:scheduled", &[]),
    ] {
        assert_eq!(found(&b, &names, search).await, wanted, "{search}");
    }
    // Parameters of the request hold as well.
    let both = page(&b, "args.0:42", "&queue=low&state=discarded").await;
    assert_eq!(both["items"].as_array().unwrap().len(), 1, "{both}");
    let none = page(&b, "state:discarded", "&state=scheduled").await;
    assert_eq!((none["items"].as_array().unwrap().len(), &none["pagination"]["complete"]), (0, &json!(true)), "{none}");
}

async fn a_search_goes_on_by_cursors_and_compares_a_bounded_number_of_jobs(b: Bench) {
    let mut wanted = Vec::new();
    for n in 0..3 {
        wanted
            .insert(0, b.enqueue(&format!(r#"{{"type":"t","args":["rare",{n}],"options":{{"queue":"q"}}}}"#)).await.to_string());
        b.try_enqueue(&[r#"{"type":"t","args":["common"],"options":{"queue":"q"}}"#; 700]).await.unwrap();
    }
    let (mut all, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let page = page(&b, "args.0:rare", &format!("&per_page=2{cursor}")).await;
        all.extend(page["items"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap().to_owned()));
        pages += 1;
        let Some(next) = page["pagination"]["next_cursor"].as_str() else {
            assert_eq!(page["pagination"]["complete"], true, "{page}");
            break;
        };
        assert_eq!(page["pagination"]["has_more"], true, "{page}");
        cursor = format!("&cursor={next}");
    }
    assert_eq!(all, wanted, "each once, the newest first");
    assert!((3..=4).contains(&pages), "2,103 jobs are three looks: {pages}");
    let full = page(&b, "common", "&per_page=10").await;
    assert_eq!(
        (full["items"].as_array().unwrap().len(), &full["pagination"]["complete"]),
        (10, &json!(true)),
        "the page is full"
    );
}

async fn long_arguments_end_a_step_early(b: Bench) {
    let long = "x".repeat(900_000);
    let first = b.enqueue(r#"{"type":"t","args":["first"],"options":{"queue":"q"}}"#).await.to_string();
    for _ in 0..12 {
        b.enqueue(&json!({"type": "t", "args": [long], "options": {"queue": "q"}}).to_string()).await;
    }
    let step = page(&b, "args.0:first", "").await;
    assert_eq!((step["items"].as_array().unwrap().len(), &step["pagination"]["complete"]), (0, &json!(false)));
    let cursor = step["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let step = page(&b, "args.0:first", &format!("&cursor={cursor}")).await;
    assert_eq!((&step["items"][0]["id"], &step["pagination"]["complete"]), (&json!(first), &json!(true)));
}

async fn a_misspelt_search_is_refused_with_its_place(b: Bench) {
    for (search, word, at) in [
        ("quue:x", "quue:x", 0),
        ("state:discarded  statte:x", "statte:x", 17),
        ("state:nosuch", "state:nosuch", 0),
        ("é queue:", "queue:", 2),
        ("queue:,", "queue:,", 0),
        ("type:Mail", "type:Mail", 0),
        ("priority:high", "priority:high", 0),
        ("attempt:>", "attempt:>", 0),
        ("since:yesterday", "since:yesterday", 0),
        ("-since:2h", "-since:2h", 0),
        ("since:2h since:3h", "since:3h", 9),
        ("args.:x", "args.:x", 0),
        ("\"open", "\"open", 0),
        ("a \"b\"c", "\"b\"c", 2),
        ("tag:\"\"", "tag:\"\"", 0),
    ] {
        let (status, answer) = b.http("GET", &format!("/admin/jobs?q={}", escaped(search)), "").await;
        let details = &answer["error"]["details"];
        assert_eq!((status, &details["word"], &details["at"]), (400, &json!(word), &json!(at)), "{search}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(word), "{answer}");
    }
    let (status, answer) = b.http("GET", &format!("/admin/jobs?q={}", "a+".repeat(21)), "").await;
    assert_eq!((status, &answer["error"]["details"]["field"]), (400, &json!("q")), "{answer}");
}

async fn a_bulk_operation_changes_what_a_search_finds(b: Bench) {
    let names = seed(&b).await;
    let request =
        |filter: Value, dry_run: bool| json!({"action": "retry", "filter": filter, "confirm": true, "dry_run": dry_run});
    let (status, seen) = post(&b, "/admin/bulk", request(json!({"q": "error:timeout -args.0:421"}), true)).await;
    assert_eq!((status, &seen["matched"], &seen["complete"]), (200, &json!(1), &json!(true)), "{seen}");
    let (status, begun) = post(&b, "/admin/bulk", request(json!({"q": "error:timeout -args.0:421"}), false)).await;
    assert_eq!(status, 202, "{begun}");
    let ended = get(&b, &format!("/admin/bulk/{}?wait_ms=60000", begun["id"].as_str().unwrap())).await;
    assert_eq!((&ended["state"], &ended["counts"]["changed"]), (&json!("completed"), &json!(1)), "{ended}");
    assert_eq!(found(&b, &names, "state:available").await, ["ada"]);
    // The calls that answer when all is done read the same filter.
    let (status, done) = post(&b, "/admin/jobs/bulk/retry", json!({"filter": {"q": "queue:low"}, "confirm": true})).await;
    assert_eq!((status, &done["succeeded"]), (200, &json!(1)), "{done}");
    for wrong in ["state:completed", "tenant:acme", "quue:x"] {
        for path in ["/admin/bulk", "/admin/jobs/bulk/retry"] {
            let body = json!({"action": "retry", "filter": {"q": wrong}, "confirm": true});
            let body = if path.ends_with("retry") { json!({"filter": body["filter"], "confirm": true}) } else { body };
            let (status, refused) = post(&b, path, body).await;
            assert_eq!(status, 400, "{wrong} {path}: {refused}");
        }
    }
    assert_eq!(found(&b, &names, "state:available").await, ["ada", "low"], "nothing else was changed");
}

async fn a_search_of_a_tenant_finds_its_jobs_only(b: Bench) {
    let of =
        |tenant: &str| format!(r#"{{"type":"t","args":["same"],"meta":{{"tenant_id":"{tenant}"}},"options":{{"queue":"q"}}}}"#);
    let (acme, _other) = (b.enqueue(&of("acme")).await.to_string(), b.enqueue(&of("other")).await);
    for search in ["tenant:acme args.0:same", "tenant:acme"] {
        let page = page(&b, search, "").await;
        let ids: Vec<&str> = page["items"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
        assert_eq!(ids, [acme.as_str()], "{search}");
    }
    let (status, _) = b.http("GET", "/admin/jobs?q=tenant%3Anobody", "").await;
    assert_eq!(status, 404);
    let within = get(&b, "/admin/tenants/acme/jobs?q=same").await;
    assert_eq!(within["items"].as_array().unwrap().len(), 1, "{within}");
    // Within one tenant, another one cannot be named.
    let (status, refused) = b.http("GET", "/admin/tenants/acme/jobs?q=tenant%3Aother", "").await;
    assert_eq!(status, 404, "{refused}");
}
