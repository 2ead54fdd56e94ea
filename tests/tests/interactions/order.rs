//! The order of the layers around enqueueing (extension interactions, section 14).
use std::sync::{Arc, Mutex};

use ojs::middleware::EnqueueNext;
use ojs::{Client, Error, JobRequest};

use super::world::World;

crate::on_every_store!(ei_012_layers_run_in_their_order);

type Seen = Arc<Mutex<Vec<&'static str>>>;

/// All layers with a name of the specification, and one more after `validate`. `refuses` stops there.
async fn client(w: &World, seen: &Seen, refuses: &'static str) -> Client {
    let client = Client::connect(&w.url()).await.unwrap();
    let spy = |name: &'static str| {
        let seen = Arc::clone(seen);
        move |request: JobRequest, next: EnqueueNext| {
            seen.lock().unwrap().push(name);
            async move { if name == refuses { Err(Error::validation("args", "refused")) } else { next.run(request).await } }
        }
    };
    for name in ["trace_inject", "auth", "validate", "unique", "rate_limit", "encrypt"] {
        client.use_middleware(name, spy(name)).unwrap();
    }
    client.middleware().insert_after("validate", "custom", spy("custom")).unwrap();
    client
}

fn taken(seen: &Seen) -> Vec<&'static str> {
    std::mem::take(&mut *seen.lock().unwrap())
}

async fn ei_012_layers_run_in_their_order(w: &World) {
    let seen = Seen::default();
    let all = ["trace_inject", "auth", "validate", "custom", "unique", "rate_limit", "encrypt"];
    let sends = client(w, &seen, "").await;
    let job = sends.enqueue("t", ()).queue("q").await.unwrap();
    assert_eq!(taken(&seen), all);
    assert_eq!(w.state(&job.id).await, "available", "the job was sent when all had run");
    // What one refuses, no layer behind it sees: neither a rate nor a key is spent on it, and nothing is stored.
    for refuses in ["validate", "unique"] {
        let stops = client(w, &seen, refuses).await;
        stops.enqueue("t", ()).queue("q").await.unwrap_err();
        let last = all.iter().position(|name| *name == refuses).unwrap();
        assert_eq!(taken(&seen), all[..=last]);
    }
    assert_eq!(w.read("/queues/q/stats").await["queue"]["total"], 1);
    // A name of the specification has one place only.
    let wrong = Client::connect(&w.url()).await.unwrap();
    wrong.use_middleware("encrypt", |request: JobRequest, next: EnqueueNext| next.run(request)).unwrap();
    let error = wrong.use_middleware("unique", |request: JobRequest, next: EnqueueNext| next.run(request)).unwrap_err();
    assert!(error.to_string().contains("'unique' must stand before 'encrypt'"), "{error}");
}
