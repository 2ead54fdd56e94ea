//! One conformance suite for every store: the same behaviours on SQLite and in memory, through the `Store` seam.
//!
//! Time is a manual clock and `sweep` does what it has made due: nothing here waits.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed unwrap is a failed test"
)]

mod access;
mod admin;
mod admin_http;
mod audit;
mod bounds;
mod bulk;
mod bulk_operations;
mod catalogue;
mod checked;
mod checkpoints;
mod claims;
mod cloudevents;
mod contents;
mod crons;
mod dead_letters;
mod declared;
mod endpoint;
mod enqueue;
mod errors;
mod events;
mod explain;
mod fair;
mod fair_model;
mod fair_sorting;
mod faults;
mod figures;
mod filing;
mod history;
mod http;
mod interactions;
mod isolation;
mod job_types;
mod kept_plans;
mod late_commits;
mod lease_tokens;
mod leases;
mod lifecycle;
mod limits;
mod line_cost;
mod lists;
mod model;
mod nodes;
mod observability;
mod page_budget;
mod pairwise;
mod passed;
mod pools;
mod progress;
mod push;
mod push_faults;
mod push_routing;
#[cfg(feature = "sqs")]
mod push_sqs;
mod queues;
mod refusals;
mod relays;
mod replay_preview;
mod results;
mod retention;
mod retries;
mod routing;
mod scenarios;
mod schemas;
mod search;
mod sessions;
mod strangers;
mod streams;
mod support;
mod tenant_features;
mod tenant_limits;
mod tenant_noise;
mod tenant_schemas;
mod tenants;
mod timeouts;
mod traces;
mod trains;
mod type_stats;
mod unique;
mod unreadable;
mod versions;
mod waiting;
mod webhook_bound;
mod webhook_endpoints;
mod webhooks;
mod websocket;
mod workflows;

mod depth;
mod durability;
