//! Every route below `/ojs/v1`: what it is, what it needs, who answers. The router, the access checks and the OpenAPI document are all
//! made from this table.
use axum::http::Method;
use axum::routing::{MethodRouter, delete, get, patch, post, put};

use crate::engine::Engine;
use crate::features::admin::{job_routes as jobs_operator, system_routes as system_operator, worker_routes as workers_operator};
use crate::features::bulk::{operator_routes as bulk_operator, routes as bulk};
use crate::features::crons::routes as crons;
use crate::features::dead_letters::{operator_routes as dead_letters_operator, routes as dead_letters};
use crate::features::limits::routes as rate_limits;
use crate::features::queue_config::{operator_routes as queues_operator, routes as queue_config};
use crate::features::results::{routes as results, stream as result_stream};
use crate::features::statistics::routes as statistics;
use crate::features::workflows::{operator_routes as workflows_operator, routes as workflows};
use crate::http::access::Permission::{self, Administer, Enqueue, Inspect, Open, Operate, Read, Work};
use crate::http::{aliases, events, health, jobs, openapi, queues, streams, workers};

/// One method of one path.
#[derive(Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// Relative to `/ojs/v1`.
    pub path: &'static str,
    /// What a key must allow.
    pub needs: Permission,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Who answers.
    pub handler: MethodRouter<Engine>,
}

fn at(method: Method, path: &'static str, needs: Permission, summary: &'static str, handler: MethodRouter<Engine>) -> Route {
    Route { method, path, needs, summary, handler }
}

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const PATCH: Method = Method::PATCH;
const DELETE: Method = Method::DELETE;

/// All of them.
#[rustfmt::skip]
pub fn table() -> Vec<Route> {
    vec![
        at(GET, "/health", Open, "How the server is", get(health::health)),
        at(POST, "/jobs", Enqueue, "Enqueue a job", post(jobs::enqueue)),
        at(POST, "/jobs/batch", Enqueue, "Enqueue many jobs, all or none", post(jobs::enqueue_batch)),
        at(POST, "/jobs/bulk", Enqueue, "Enqueue many jobs, each on its own unless asked otherwise", post(bulk::enqueue)),
        at(POST, "/jobs/bulk/cancel", Operate, "Cancel many jobs, by id or filter", post(bulk::cancel)),
        at(POST, "/jobs/bulk/retry", Operate, "Run many discarded or retryable jobs again, by id or filter", post(bulk::retry)),
        at(POST, "/jobs/bulk/delete", Administer, "Delete many ended jobs, by id or filter", post(bulk::delete)),
        at(GET, "/jobs/{id}", Read, "A job", get(jobs::get)),
        at(PATCH, "/jobs/{id}", Operate, "Change the priority of a job that waits", patch(jobs::patch)),
        at(DELETE, "/jobs/{id}", Operate, "Cancel a job", delete(jobs::cancel)),
        at(GET, "/jobs/{id}/events", Read, "Follow a job (server-sent events)", get(streams::job)),
        at(POST, "/jobs/{id}/activate", Operate, "Activate a pending job", post(jobs::activate)),
        at(GET, "/jobs/{id}/result", Read, "The result of a job, waited for if asked", get(results::get)),
        at(GET, "/jobs/{id}/result/stream", Read, "Follow the result of a job (server-sent events)", get(result_stream::open)),
        at(POST, "/jobs/{id}/ack", Work, "Report success, the job named in the path", post(aliases::ack)),
        at(POST, "/jobs/{id}/nack", Work, "Report failure, the job named in the path", post(aliases::nack)),
        at(POST, "/jobs/{id}/cancel", Operate, "Cancel a job", post(jobs::cancel)),
        at(POST, "/jobs/fetch", Work, "Fetch jobs, under its other name", post(workers::fetch)),
        at(POST, "/jobs/results", Read, "Results of many jobs", post(results::list)),
        at(POST, "/workers/fetch", Work, "Fetch jobs", post(workers::fetch)),
        at(POST, "/workers/ack", Work, "Report success", post(workers::ack)),
        at(POST, "/workers/nack", Work, "Report failure", post(workers::nack)),
        at(POST, "/workers/heartbeat", Work, "Extend leases, hear directives", post(workers::heartbeat)),
        at(POST, "/workers/beat", Work, "The same under its other name", post(workers::heartbeat)),
        at(POST, "/workers/exchange", Work, "Report outcomes and fetch in one request", post(workers::exchange)),
        at(POST, "/workflows", Enqueue, "Start a workflow", post(workflows::create)),
        at(GET, "/workflows/{id}", Read, "A workflow", get(workflows::get)),
        at(DELETE, "/workflows/{id}", Operate, "Cancel a workflow", delete(workflows::cancel)),
        at(GET, "/cron", Inspect, "All cron entries", get(crons::list)),
        at(POST, "/cron", Operate, "Register or replace a cron entry", post(crons::put)),
        at(GET, "/cron/{name}", Inspect, "A cron entry", get(crons::get)),
        at(PATCH, "/cron/{name}", Operate, "Enable or disable a cron entry", patch(crons::switch)),
        at(DELETE, "/cron/{name}", Operate, "Delete a cron entry", delete(crons::delete)),
        at(GET, "/queues", Inspect, "All queues", get(queues::list)),
        at(POST, "/queues", Administer, "Create a queue with its configuration", post(queue_config::create)),
        at(GET, "/queues/{name}", Inspect, "A queue with its configuration", get(queue_config::get)),
        at(DELETE, "/queues/{name}", Administer, "Delete a queue", delete(queue_config::delete)),
        at(PUT, "/queues/{name}/config", Administer, "Configure a queue", put(queue_config::configure)),
        at(POST, "/queues/{name}/drain", Operate, "Accept no more jobs, hand out those that are there", post(queues::drain)),
        at(GET, "/rate-limits", Inspect, "Keys with limits and what is going on with them", get(rate_limits::list)),
        at(GET, "/rate-limits/{key}", Inspect, "A key with limits", get(rate_limits::get)),
        at(PUT, "/rate-limits/{key}", Operate, "Give a key other limits for a while", put(rate_limits::put)),
        at(GET, "/queues/{name}/stats", Inspect, "Counts of a queue", get(queues::stats)),
        at(GET, "/queues/{name}/events", Inspect, "Follow a queue (server-sent events)", get(streams::queue)),
        at(POST, "/queues/{name}/pause", Operate, "Hand out no more jobs of a queue", post(queues::pause)),
        at(POST, "/queues/{name}/resume", Operate, "Hand them out again", post(queues::resume)),
        at(GET, "/events", Inspect, "Events behind a cursor", get(events::poll)),
        at(GET, "/events/stream", Inspect, "Follow all events (server-sent events)", get(streams::all)),
        at(GET, "/dead-letter", Inspect, "Dead letters, newest first", get(dead_letters::list)),
        at(DELETE, "/dead-letter", Administer, "Delete many dead letters", delete(dead_letters::delete_many)),
        at(GET, "/dead-letter/stats", Inspect, "Counts of dead letters", get(dead_letters::stats)),
        at(POST, "/dead-letter/retry", Operate, "Run many dead letters again", post(dead_letters::retry_many)),
        at(GET, "/dead-letter/{id}", Inspect, "A dead letter", get(dead_letters::get)),
        at(DELETE, "/dead-letter/{id}", Administer, "Delete a dead letter", delete(dead_letters::delete)),
        at(POST, "/dead-letter/{id}/retry", Operate, "Run a dead letter again", post(dead_letters::retry)),
        at(GET, "/workers/{id}/health", Open, "Whether a worker takes jobs", get(workers_operator::health)),
        at(GET, "/admin/queues", Inspect, "All queues with counts and pace", get(queues_operator::list)),
        at(GET, "/admin/queues/{name}", Inspect, "A queue with counts and pace", get(queues_operator::get)),
        at(POST, "/admin/queues/{name}/pause", Operate, "Hand out no more jobs of a queue", post(queues_operator::pause)),
        at(POST, "/admin/queues/{name}/resume", Operate, "Hand them out again", post(queues_operator::resume)),
        at(PUT, "/admin/queues/{name}/config", Administer, "Configure a queue", put(queue_config::configure)),
        at(PUT, "/admin/queues/{name}/rate-limit", Administer, "Limit the rate of a queue", put(queue_config::rate_limit)),
        at(DELETE, "/admin/queues/{name}/jobs", Administer, "Purge jobs of a queue", delete(bulk_operator::purge)),
        at(POST, "/admin/jobs/bulk/retry", Operate, "Run all jobs that a filter finds again", post(bulk_operator::retry)),
        at(POST, "/admin/jobs/bulk/cancel", Operate, "Cancel all jobs that a filter finds", post(bulk_operator::cancel)),
        at(POST, "/admin/jobs/bulk/delete", Administer, "Delete all ended jobs that a filter finds", post(bulk_operator::delete)),
        at(GET, "/admin/jobs", Inspect, "Jobs by filter and order", get(jobs_operator::list)),
        at(GET, "/admin/jobs/{id}", Inspect, "A job in detail", get(jobs_operator::get)),
        at(POST, "/admin/jobs/{id}/cancel", Operate, "Cancel a job", post(jobs_operator::cancel)),
        at(POST, "/admin/jobs/{id}/retry", Operate, "Run a discarded job again", post(jobs_operator::retry)),
        at(GET, "/admin/workers", Inspect, "All workers", get(workers_operator::list)),
        at(GET, "/admin/workers/{id}", Inspect, "A worker", get(workers_operator::get)),
        at(DELETE, "/admin/workers/{id}", Administer, "Remove a silent worker", delete(workers_operator::delete)),
        at(POST, "/admin/workers/{id}/{directive}", Operate, "Tell a worker: quiet, terminate or resume", post(workers_operator::direct)),
        at(GET, "/admin/workflows", Inspect, "Workflows, newest first", get(workflows_operator::list)),
        at(GET, "/admin/dead-letter", Inspect, "Dead letters, newest first", get(dead_letters_operator::list)),
        at(DELETE, "/admin/dead-letter", Administer, "Delete many dead letters", delete(dead_letters::delete_many)),
        at(GET, "/admin/dead-letter/stats", Inspect, "Counts of dead letters", get(dead_letters::stats)),
        at(POST, "/admin/dead-letter/retry", Operate, "Run many dead letters again", post(dead_letters::retry_many)),
        at(GET, "/admin/dead-letter/{id}", Inspect, "A dead letter", get(dead_letters::get)),
        at(DELETE, "/admin/dead-letter/{id}", Administer, "Delete a dead letter", delete(dead_letters_operator::delete)),
        at(POST, "/admin/dead-letter/{id}/retry", Operate, "Run a dead letter again", post(dead_letters::retry)),
        at(GET, "/admin/stats", Inspect, "The whole in figures", get(statistics::now)),
        at(GET, "/admin/stats/history", Inspect, "Figures over time", get(statistics::history)),
        at(GET, "/admin/system/maintenance", Inspect, "Whether there is maintenance", get(system_operator::maintenance)),
        at(POST, "/admin/system/maintenance", Administer, "Begin or end maintenance", post(system_operator::set_maintenance)),
        at(GET, "/admin/system/config", Inspect, "Settings in force", get(system_operator::config)),
        at(GET, "/openapi.json", Open, "This description", get(openapi::document)),
    ]
}
