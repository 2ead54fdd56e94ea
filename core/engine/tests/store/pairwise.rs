//! Every two features together, and many of them: for each set, random commands of several clients at the same time on
//! jobs that use all of it, on two nodes where the store has them. Then the general invariants are checked: nothing
//! is lost, nothing is stuck, the jobs of a train never run side by side, limits are kept, no two jobs that have not
//! ended have the same unique key, a delivery has the checkpoint that was confirmed last, tenants are apart, counts are
//! right (the audit ends each set).
//!
//! Each store plays some pairs, others each time. `OJS_PAIRS` says how many, `OJS_SETS` how many larger sets,
//! `OJS_PAIR_ROUNDS` makes each of them longer, `OJS_PAIR_SEED` repeats a run, `OJS_PAIR` names one pair or set
//! (`Trains,Limits`).
use std::collections::BTreeSet;
use std::fmt;

use ojs_engine::command::Reset;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::nodes::second_node;
use crate::support::{Bench, seconds};

mod client;
mod held;

use client::Client;
use held::Held;

crate::on_every_store!(any_two_features_keep_the_invariants, many_features_at_once_keep_the_invariants);

/// Clients that send commands at the same time.
const CLIENTS: usize = 4;
/// Commands of each of them between two moves of the clock.
const STEPS: usize = 6;
/// Pairs of a short run; there are 78.
const PAIRS: u64 = 16;
/// Larger sets of a short run.
const SETS: u64 = 2;
/// Turns in which everything must come to its end when no further jobs are enqueued.
const PATIENCE: usize = 400;

/// What jobs may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    Trains,
    Limits,
    Tenants,
    Workflows,
    Unique,
    Versions,
    Schemas,
    Checkpoints,
    Replays,
    LostLeases,
    Crons,
    Schedules,
    Shares,
}

use Switch::{
    Checkpoints, Crons, Limits, LostLeases, Replays, Schedules, Schemas, Shares, Tenants, Trains, Unique, Versions, Workflows,
};

const ALL: [Switch; 13] =
    [Trains, Limits, Tenants, Workflows, Unique, Versions, Schemas, Checkpoints, Replays, LostLeases, Crons, Schedules, Shares];
/// In each larger set.
const ALWAYS: [Switch; 6] = [Trains, Limits, Tenants, Unique, Checkpoints, Shares];
/// In some of them.
const OFTEN: [Switch; 5] = [Versions, Schemas, Replays, LostLeases, Schedules];

/// The features of one run, a bit each.
#[derive(Clone, Copy)]
struct Features(u64);

impl Features {
    fn of(switches: &[Switch]) -> Self {
        Self(switches.iter().fold(0, |bits, switch| bits | 1 << *switch as u64))
    }

    fn has(self, switch: Switch) -> bool {
        self.0 & 1 << switch as u64 != 0
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = ALL.iter().filter(|switch| self.has(**switch)).map(|switch| format!("{switch:?}")).collect();
        f.write_str(&names.join(","))
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

async fn any_two_features_keep_the_invariants(b: Bench) {
    let seed = seed();
    let mut pairs = Vec::new();
    for (at, one) in ALL.into_iter().enumerate() {
        pairs.extend(ALL.into_iter().skip(at + 1).map(|two| Features::of(&[one, two])));
    }
    pairs.shuffle(&mut StdRng::seed_from_u64(seed));
    play(&b, seed, pairs, number("OJS_PAIRS", PAIRS)).await;
}

async fn many_features_at_once_keep_the_invariants(b: Bench) {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let count = number("OJS_SETS", SETS);
    let sets = (0..count).map(|_| {
        let also = OFTEN.into_iter().filter(|_| rng.random_bool(0.5));
        Features::of(&ALWAYS.into_iter().chain(also).collect::<Vec<_>>())
    });
    play(&b, seed, sets.collect(), count).await;
}

fn seed() -> u64 {
    number("OJS_PAIR_SEED", rand::rng().random_range(0..1_000_000))
}

/// Plays so many of the sets.
async fn play(b: &Bench, seed: u64, sets: Vec<Features>, most: u64) {
    let rounds = number("OJS_PAIR_ROUNDS", 3);
    let only = std::env::var("OJS_PAIR").unwrap_or_default();
    let sets = sets.into_iter().filter(|features| only.is_empty() || only == features.to_string());
    for features in sets.take(usize::try_from(most).unwrap()) {
        println!("OJS_PAIR_SEED={seed} OJS_PAIR={features}");
        let rng = StdRng::seed_from_u64(seed + features.0);
        b.engine.store().execute(Reset).await.unwrap();
        let other = if b.database.is_some() { Some(second_node(b).await) } else { None };
        Run { features, b, other: other.as_ref(), held: Held::default(), rng }.play(rounds).await;
        if let Some(other) = other {
            other.engine.close().await;
        }
    }
}

/// One set on an empty store.
struct Run<'a> {
    features: Features,
    b: &'a Bench,
    other: Option<&'a Bench>,
    held: Held,
    rng: StdRng,
}

impl Run<'_> {
    async fn play(mut self, rounds: u64) {
        self.prepare().await;
        for _ in 0..rounds {
            self.together(STEPS, true).await;
            self.pass().await;
        }
        self.finish().await;
        self.check().await;
    }

    /// What the features need before the first job.
    async fn prepare(&self) {
        if self.features.has(Shares) {
            self.b.share(json!({"weights": {"a": 2}})).await;
        }
        if self.features.has(Schemas) {
            // Arguments are one whole number.
            let schema = json!({"type": "array", "items": {"type": "integer"}, "minItems": 1});
            for version in ["1.0", "2.0"] {
                let body = json!({"job_type": "t", "version": version, "schema": schema, "mode": "strict"}).to_string();
                let (status, answer) = self.b.http("POST", "/schemas", &body).await;
                assert_eq!(status, 201, "{answer}");
            }
        }
        if self.features.has(Crons) {
            let mut rng = self.rng.clone();
            let template = client::job(self.features, &mut rng, false);
            for (name, policy) in [("allow", "allow"), ("skip", "skip"), ("queue", "enqueue")] {
                let entry = json!({"name": name, "expression": "* * * * *", "overlap_policy": policy, "job_template": template});
                let (status, answer) = self.b.http("POST", "/cron", &entry.to_string()).await;
                assert_eq!(status, 201, "{answer}");
            }
        }
    }

    /// Clients send their commands at the same time, each to a node.
    async fn together(&mut self, steps: usize, enqueues: bool) {
        let (b, other, features, held) = (self.b, self.other, self.features, &self.held);
        let rngs: Vec<StdRng> = (0..CLIENTS).map(|_| StdRng::from_rng(&mut self.rng)).collect();
        let clients = rngs.into_iter().enumerate().map(|(at, rng)| {
            let node = if at % 2 == 0 { b } else { other.unwrap_or(b) };
            Client { b: node, features, held, rng, name: format!("w{at}") }.steps(steps, enqueues)
        });
        futures_util::future::join_all(clients).await;
    }

    /// Time passes, and what it makes due is done, by whichever node leads.
    async fn pass(&mut self) {
        let time = if self.features.has(Crons) { self.rng.random_range(0..90) } else { self.rng.random_range(0..40) };
        self.b.clock.advance(seconds(time));
        for node in std::iter::once(self.b).chain(self.other) {
            node.engine.store().sweep().await.unwrap();
        }
        self.held.end_leases(self.b.now());
    }

    /// No further jobs: what is there comes to its end.
    async fn finish(&mut self) {
        if self.features.has(Crons) {
            for name in ["allow", "skip", "queue"] {
                assert_eq!(self.b.http("DELETE", &format!("/cron/{name}"), "").await.0, 200);
            }
        }
        let mut turns = 0;
        loop {
            let live = self.live().await;
            self.check_unique(&live);
            if live.is_empty() && self.trains(None).await.is_empty() {
                return;
            }
            turns += 1;
            assert!(turns < PATIENCE, "{:?}: stuck: {live:#?}\n{:#?}", self.features, self.trains(None).await);
            for train in self.trains(Some("held")).await {
                self.advance(&train).await;
            }
            self.together(1, false).await;
            self.pass().await;
        }
    }

    /// Jobs that have not ended.
    async fn live(&self) -> Vec<Value> {
        let jobs = self.jobs().await;
        jobs.into_iter()
            .filter(|job| !["completed", "cancelled", "discarded"].contains(&job["state"].as_str().unwrap()))
            .collect()
    }

    /// All jobs.
    async fn jobs(&self) -> Vec<Value> {
        let (mut jobs, mut page) = (Vec::new(), 1);
        loop {
            let (_, answer) = self.b.http("GET", &format!("/admin/jobs?per_page=100&page={page}"), "").await;
            jobs.extend(answer["items"].as_array().unwrap().iter().cloned());
            if answer["pagination"]["has_more"] != true {
                return jobs;
            }
            page += 1;
        }
    }

    /// The trains of all tenants, each with its tenant.
    async fn trains(&self, state: Option<&str>) -> Vec<(&'static str, String)> {
        let state = state.map_or(String::new(), |state| format!("&state={state}"));
        let mut trains = Vec::new();
        for tenant in ["_default", "a", "b"] {
            let (status, answer) = self.b.of(tenant, "GET", &format!("/trains?limit=100{state}"), Value::Null).await;
            assert_eq!(status, 200, "{answer}");
            trains.extend(
                answer["trains"].as_array().unwrap().iter().map(|train| (tenant, train["id"].as_str().unwrap().to_owned())),
            );
        }
        trains
    }

    async fn advance(&self, (tenant, train): &(&str, String)) {
        let (status, answer) = self.b.of(tenant, "POST", &format!("/trains/{train}/advance"), json!({"confirm": true})).await;
        assert!(matches!(status, 200 | 404 | 409), "{answer}");
    }

    async fn check(&self) {
        let features = self.features;
        let jobs = self.jobs().await;
        let accepted = self.held.accepted();
        for id in &accepted {
            assert!(jobs.iter().any(|job| job["id"].as_str() == Some(id)), "{features:?}: {id} is lost");
        }
        if !features.has(Workflows) && !features.has(Crons) {
            assert_eq!(jobs.len(), accepted.len(), "{features:?}: jobs that were refused are not stored");
        }
        if features.has(Tenants) {
            self.check_tenants(&jobs).await;
        }
        let (_, limits) = self.b.http("GET", "/rate-limits", "").await;
        for limit in limits["rate_limits"].as_array().into_iter().flatten() {
            assert_eq!(limit["active"].as_u64().unwrap_or_default(), 0, "{features:?}: a slot is not given back: {limit}");
        }
        let (_, flows) = self.b.http("GET", "/admin/workflows?per_page=100", "").await;
        for flow in flows["items"].as_array().unwrap() {
            assert_ne!(flow["state"], "running", "{features:?}: {flow}");
        }
        assert_eq!(self.b.engine.audit().await.unwrap().findings, [], "{features:?}: the store contradicts itself");
    }

    /// No two of the jobs that have not ended have the same key, except for those that an operator ran again.
    fn check_unique(&self, live: &[Value]) {
        if !self.features.has(Unique) || self.features.has(Replays) {
            return;
        }
        let mut keys = BTreeSet::new();
        for job in live {
            let key = format!("{} {}", job["meta"]["tenant_id"], job["args"]);
            assert!(keys.insert(key), "{:?}: another job has the key of {job}", self.features);
        }
    }

    /// A tenant finds its own jobs, and no others.
    async fn check_tenants(&self, jobs: &[Value]) {
        for tenant in ["a", "b"] {
            let (_, stats) = self.b.http("GET", &format!("/admin/tenants/{tenant}/stats"), "").await;
            let own = jobs.iter().filter(|job| job["meta"]["tenant_id"] == tenant).count();
            assert!(stats["total_jobs"].as_u64().unwrap_or(0) as usize <= own, "{:?}: {stats}", self.features);
            for job in jobs.iter().take(10) {
                let (status, _) = self.b.of(tenant, "GET", &format!("/jobs/{}", job["id"].as_str().unwrap()), Value::Null).await;
                let is_own = job["meta"]["tenant_id"] == tenant;
                assert_eq!(status, if is_own { 200 } else { 404 }, "{:?}: tenant {tenant}, {job}", self.features);
            }
        }
    }
}
