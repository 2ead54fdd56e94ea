//! `tests/vectors/vectors.json`: what goes over the wire for what a user says, which error an answer becomes, in which order layers run,
//! what a worker reports. Decided here, by the core; the language packages must do the same.
//! `OJS_WRITE=1 cargo test --locked --workspace --test vectors` writes what is expected; the rest of the file is
//! written by hand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failed unwrap is a failed test"
)]
mod chains;
mod engine;
mod environments;
mod outbox;
mod requests;
mod webhooks;
mod workers;

use std::path::{Path, PathBuf};

use serde_json::Value;

/// How many vectors there are at least: a part that was lost would be no failure otherwise.
const AT_LEAST: usize = 400;

/// The folder of the vectors.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_vectors_are_what_the_core_does() {
    let path = folder().join("vectors.json");
    let committed: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let mut made = committed.clone();
    requests::make(&mut made).await;
    environments::make(&mut made["environments"]);
    webhooks::make(&mut made["webhooks"]);
    outbox::make(&mut made);
    chains::make(&mut made["chains"]).await;
    engine::make(&mut made).await;
    workers::make(&mut made).await;
    if std::env::var_os("OJS_WRITE").is_some() {
        std::fs::write(&path, format!("{made:#}\n")).unwrap();
        return;
    }
    let mut count = 0;
    for (kind, committed) in committed.as_object().unwrap() {
        for (committed, made) in committed.as_array().unwrap().iter().zip(made[kind].as_array().unwrap()) {
            assert_eq!(committed, made, "{kind}: run with OJS_WRITE=1 and look at the difference");
            count += 1;
        }
    }
    assert!(count >= AT_LEAST, "{count} vectors");
}
