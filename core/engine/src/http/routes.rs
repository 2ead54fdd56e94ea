//! Every route below `/ojs/v1` and who answers it. What a key must allow comes from the operations of xtask/operations, which this
//! table is compared with.
use axum::http::Method;
use axum::routing::{MethodRouter, delete, get, patch, post, put};

use crate::engine::Engine;
use crate::features::admin::{job_routes as jobs_operator, system_routes as system_operator, worker_routes as workers_operator};
use crate::features::bulk::{operator_routes as bulk_operator, routes as bulk};
use crate::features::bulk_operations::routes as bulk_operations;
use crate::features::checkpoints::routes as checkpoints;
use crate::features::cloudevents::routes as cloudevents;
use crate::features::crons::routes as crons;
use crate::features::dead_letters::{operator_routes as dead_letters_operator, routes as dead_letters};
use crate::features::errors::routes as errors;
use crate::features::explain::routes as explain;
use crate::features::fair::routes as fairness;
use crate::features::history::routes as history;
use crate::features::limits::routes as rate_limits;
use crate::features::pools::routes as pools;
use crate::features::progress::{routes as progress, stream as progress_stream};
use crate::features::push::routes as push;
use crate::features::queue_config::{operator_routes as queues_operator, routes as queue_config};
use crate::features::relays::routes as relays;
use crate::features::results::{routes as results, stream as result_stream};
use crate::features::schemas::routes as schemas;
use crate::features::sessions::routes as sessions;
use crate::features::statistics::routes as statistics;
use crate::features::tenants::{noisy_routes, operator_routes as tenants};
use crate::features::trains::{operator_routes as trains_operator, routes as trains};
use crate::features::versions::routes as routing;
use crate::features::webhooks::routes as webhooks;
use crate::features::workflows::{operator_routes as workflows_operator, routes as workflows};
use crate::http::access::Permission;
use crate::http::operations::OPERATIONS;
use crate::http::{aliases, events, health, jobs, openapi, queues, streams, websocket, workers};

/// One method of one path.
#[derive(Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// Relative to `/ojs/v1`.
    pub path: &'static str,
    /// What a key must allow.
    pub needs: Permission,
    /// Who answers.
    pub handler: MethodRouter<Engine>,
}

/// A route with the permission that its operation declares. A route without an operation is for administrators only; a test names it.
fn at(method: Method, path: &'static str, handler: MethodRouter<Engine>) -> Route {
    let declared = OPERATIONS.iter().find(|operation| operation.path == path && operation.method == method.as_str());
    Route { needs: declared.map_or(Permission::Administer, |operation| operation.permission), method, path, handler }
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
        at(GET, "/health", get(health::health)),
        at(GET, "/session", get(sessions::get)),
        at(POST, "/session", post(sessions::begin)),
        at(DELETE, "/session", delete(sessions::end)),
        at(POST, "/jobs", post(cloudevents::enqueue)),
        at(POST, "/jobs/batch", post(jobs::enqueue_batch)),
        at(POST, "/jobs/bulk", post(bulk::enqueue)),
        at(POST, "/jobs/bulk/cancel", post(bulk::cancel)),
        at(POST, "/jobs/bulk/retry", post(bulk::retry)),
        at(POST, "/jobs/bulk/delete", post(bulk::delete)),
        at(GET, "/jobs/{id}", get(jobs::get)),
        at(PATCH, "/jobs/{id}", patch(jobs::patch)),
        at(DELETE, "/jobs/{id}", delete(jobs::cancel)),
        at(GET, "/jobs/{id}/events", get(streams::job)),
        at(GET, "/jobs/{id}/explain", get(explain::explain)),
        at(GET, "/history", get(history::search)),
        at(GET, "/history/stats", get(history::stats)),
        at(GET, "/jobs/{id}/history", get(history::get)),
        at(DELETE, "/jobs/{id}/history", delete(history::delete)),
        at(GET, "/jobs/{id}/lineage", get(history::lineage)),
        at(POST, "/jobs/{id}/activate", post(jobs::activate)),
        at(GET, "/jobs/{id}/result", get(results::get)),
        at(GET, "/jobs/{id}/result/stream", get(result_stream::open)),
        at(GET, "/jobs/{id}/progress", get(progress::get)),
        at(PUT, "/jobs/{id}/progress", put(progress::put)),
        at(POST, "/workers/progress", post(aliases::progress)),
        at(GET, "/jobs/{id}/progress/stream", get(progress_stream::open)),
        at(GET, "/jobs/{id}/checkpoint", get(checkpoints::get)),
        at(PUT, "/jobs/{id}/checkpoint", put(checkpoints::save)),
        at(POST, "/jobs/{id}/checkpoint", post(checkpoints::save)),
        at(DELETE, "/jobs/{id}/checkpoint", delete(checkpoints::delete)),
        at(PUT, "/checkpoints/{id}", put(aliases::save_checkpoint)),
        at(POST, "/checkpoints/{id}", post(aliases::save_checkpoint)),
        at(GET, "/checkpoints/{id}/resume", get(aliases::resume)),
        at(DELETE, "/checkpoints/{id}", delete(checkpoints::delete)),
        at(POST, "/jobs/{id}/ack", post(aliases::ack)),
        at(POST, "/jobs/{id}/nack", post(aliases::nack)),
        at(POST, "/jobs/{id}/cancel", post(jobs::cancel)),
        at(POST, "/jobs/fetch", post(workers::fetch)),
        at(POST, "/jobs/results", post(results::list)),
        at(POST, "/workers/fetch", post(workers::fetch)),
        at(POST, "/workers/ack", post(workers::ack)),
        at(POST, "/workers/nack", post(workers::nack)),
        at(POST, "/workers/heartbeat", post(workers::heartbeat)),
        at(POST, "/workers/beat", post(workers::heartbeat)),
        at(POST, "/workers/exchange", post(workers::exchange)),
        at(POST, "/workflows", post(workflows::create)),
        at(GET, "/workflows/{id}", get(workflows::get)),
        at(DELETE, "/workflows/{id}", delete(workflows::cancel)),
        at(POST, "/relays/beat", post(relays::beat)),
        at(GET, "/admin/relays", get(relays::list)),
        at(GET, "/workflows/{id}/progress", get(progress::workflow)),
        at(GET, "/cron", get(crons::list)),
        at(POST, "/cron", post(crons::put)),
        at(GET, "/cron/{name}", get(crons::get)),
        at(PATCH, "/cron/{name}", patch(crons::switch)),
        at(DELETE, "/cron/{name}", delete(crons::delete)),
        at(POST, "/cron/{name}/run", post(crons::run)),
        at(GET, "/schemas", get(schemas::list)),
        at(POST, "/schemas", post(schemas::register)),
        at(GET, "/schemas/{type}", get(schemas::get)),
        at(DELETE, "/schemas/{type}", delete(schemas::delete_by_uri)),
        at(GET, "/schemas/{type}/versions", get(schemas::versions)),
        at(GET, "/schemas/{type}/{version}", get(schemas::get_version)),
        at(PATCH, "/schemas/{type}/{version}", patch(schemas::set_mode)),
        at(DELETE, "/schemas/{type}/{version}", delete(schemas::delete)),
        at(GET, "/admin/schemas/{type}", get(schemas::show)),
        at(GET, "/admin/schemas/{type}/versions", get(schemas::versions)),
        at(GET, "/admin/schemas/{type}/{version}", get(schemas::show_version)),
        at(PUT, "/admin/schemas/{type}/{version}", put(schemas::put)),
        at(DELETE, "/admin/schemas/{type}/{version}", delete(schemas::delete)),
        at(GET, "/trains", get(trains::list)),
        at(GET, "/trains/{id}", get(trains::get)),
        at(POST, "/trains/{id}/advance", post(trains::advance)),
        at(POST, "/trains/{id}/hold", post(trains::hold)),
        at(GET, "/admin/trains", get(trains_operator::list)),
        at(GET, "/admin/trains/{id}", get(trains::get)),
        at(POST, "/admin/trains/{id}/advance", post(trains::advance)),
        at(POST, "/admin/trains/{id}/hold", post(trains::hold)),
        at(GET, "/webhooks/subscriptions", get(webhooks::list)),
        at(POST, "/webhooks/subscriptions", post(webhooks::create)),
        at(GET, "/webhooks/subscriptions/{id}", get(webhooks::get)),
        at(PATCH, "/webhooks/subscriptions/{id}", patch(webhooks::change)),
        at(DELETE, "/webhooks/subscriptions/{id}", delete(webhooks::delete)),
        at(POST, "/webhooks/subscriptions/{id}/test", post(webhooks::test)),
        at(POST, "/webhooks/subscriptions/{id}/rotate-secret", post(webhooks::rotate)),
        at(GET, "/webhooks/deliveries", get(webhooks::deliveries)),
        at(GET, "/webhooks/deliveries/{id}", get(webhooks::delivery)),
        at(POST, "/webhooks/deliveries/{id}/retry", post(webhooks::retry)),
        at(GET, "/push/endpoints", get(push::list)),
        at(POST, "/push/endpoints", post(push::create)),
        at(GET, "/push/endpoints/{id}", get(push::get)),
        at(PATCH, "/push/endpoints/{id}", patch(push::change)),
        at(DELETE, "/push/endpoints/{id}", delete(push::delete)),
        at(POST, "/push/endpoints/{id}/test", post(push::test)),
        at(POST, "/push/endpoints/{id}/rotate-secret", post(push::rotate)),
        at(GET, "/queues", get(queues::list)),
        at(POST, "/queues", post(queue_config::create)),
        at(GET, "/queues/{name}", get(queue_config::get)),
        at(DELETE, "/queues/{name}", delete(queue_config::delete)),
        at(PUT, "/queues/{name}/config", put(queue_config::configure)),
        at(POST, "/queues/{name}/drain", post(queues::drain)),
        at(GET, "/rate-limits", get(rate_limits::list)),
        at(GET, "/rate-limits/{key}", get(rate_limits::get)),
        at(PUT, "/rate-limits/{key}", put(rate_limits::put)),
        at(GET, "/queues/{name}/stats", get(queues::stats)),
        at(GET, "/queues/{name}/events", get(streams::queue)),
        at(POST, "/queues/{name}/pause", post(queues::pause)),
        at(POST, "/queues/{name}/resume", post(queues::resume)),
        at(GET, "/events", get(events::poll)),
        at(GET, "/events/stream", get(streams::all)),
        at(GET, "/ws", get(websocket::open)),
        at(GET, "/dead-letter", get(dead_letters::list)),
        at(DELETE, "/dead-letter", delete(dead_letters::delete_many)),
        at(GET, "/dead-letter/preview", get(dead_letters::preview)),
        at(GET, "/dead-letter/stats", get(dead_letters::stats)),
        at(POST, "/dead-letter/retry", post(dead_letters::retry_many)),
        at(GET, "/dead-letter/{id}", get(dead_letters::get)),
        at(DELETE, "/dead-letter/{id}", delete(dead_letters::delete)),
        at(POST, "/dead-letter/{id}/retry", post(dead_letters::retry)),
        at(GET, "/workers/{id}/health", get(workers_operator::health)),
        at(GET, "/admin/queues", get(queues_operator::list)),
        at(GET, "/admin/queues/{name}", get(queues_operator::get)),
        at(POST, "/admin/queues/{name}/pause", post(queues_operator::pause)),
        at(POST, "/admin/queues/{name}/resume", post(queues_operator::resume)),
        at(PUT, "/admin/queues/{name}/config", put(queue_config::configure)),
        at(PUT, "/admin/queues/{name}/rate-limit", put(queue_config::rate_limit)),
        at(GET, "/admin/queues/{name}/fairness", get(fairness::get)),
        at(PUT, "/admin/queues/{name}/fairness", put(fairness::put)),
        at(DELETE, "/admin/queues/{name}/fairness", delete(fairness::delete)),
        at(DELETE, "/admin/queues/{name}/jobs", delete(bulk_operator::purge)),
        at(POST, "/admin/jobs/bulk/retry", post(bulk_operator::retry)),
        at(POST, "/admin/jobs/bulk/cancel", post(bulk_operator::cancel)),
        at(POST, "/admin/jobs/bulk/delete", post(bulk_operator::delete)),
        at(GET, "/admin/bulk", get(bulk_operations::list)),
        at(POST, "/admin/bulk", post(bulk_operations::create)),
        at(GET, "/admin/bulk/{id}", get(bulk_operations::get)),
        at(POST, "/admin/bulk/{id}/pause", post(bulk_operations::pause)),
        at(POST, "/admin/bulk/{id}/resume", post(bulk_operations::resume)),
        at(POST, "/admin/bulk/{id}/cancel", post(bulk_operations::cancel)),
        at(GET, "/admin/jobs", get(jobs_operator::list)),
        at(GET, "/admin/jobs/{id}", get(jobs_operator::get)),
        at(POST, "/admin/jobs/{id}/cancel", post(jobs_operator::cancel)),
        at(POST, "/admin/jobs/{id}/retry", post(jobs_operator::retry)),
        at(GET, "/admin/workers", get(workers_operator::list)),
        at(GET, "/admin/workers/{id}", get(workers_operator::get)),
        at(DELETE, "/admin/workers/{id}", delete(workers_operator::delete)),
        at(POST, "/admin/workers/{id}/{directive}", post(workers_operator::direct)),
        at(GET, "/admin/pools", get(pools::list)),
        at(PUT, "/admin/pools/{name}", put(pools::put)),
        at(DELETE, "/admin/pools/{name}", delete(pools::delete)),
        at(GET, "/admin/scheduling/stats", get(pools::stats)),
        at(GET, "/admin/routing/{type}", get(routing::get)),
        at(PUT, "/admin/routing/{type}", put(routing::put)),
        at(DELETE, "/admin/routing/{type}", delete(routing::delete)),
        at(GET, "/admin/workflows", get(workflows_operator::list)),
        at(GET, "/admin/dead-letter", get(dead_letters_operator::list)),
        at(DELETE, "/admin/dead-letter", delete(dead_letters::delete_many)),
        at(GET, "/admin/dead-letter/preview", get(dead_letters::preview)),
        at(GET, "/admin/dead-letter/stats", get(dead_letters::stats)),
        at(POST, "/admin/dead-letter/retry", post(dead_letters::retry_many)),
        at(GET, "/admin/dead-letter/{id}", get(dead_letters::get)),
        at(DELETE, "/admin/dead-letter/{id}", delete(dead_letters_operator::delete)),
        at(POST, "/admin/dead-letter/{id}/retry", post(dead_letters::retry)),
        at(GET, "/admin/errors", get(errors::list)),
        at(GET, "/admin/errors/{fingerprint}", get(errors::get)),
        at(GET, "/admin/stats", get(statistics::now)),
        at(GET, "/admin/stats/history", get(statistics::history)),
        at(GET, "/admin/stats/types", get(statistics::types)),
        at(GET, "/admin/stats/tenants/noisy", get(noisy_routes::list)),
        at(GET, "/admin/tenants", get(tenants::list)),
        at(GET, "/admin/tenants/{id}", get(tenants::get)),
        at(PUT, "/admin/tenants/{id}", put(tenants::put)),
        at(DELETE, "/admin/tenants/{id}", delete(tenants::delete)),
        at(PUT, "/admin/tenants/{id}/limits", put(tenants::set_limits)),
        at(POST, "/admin/tenants/{id}/suspend", post(tenants::suspend)),
        at(POST, "/admin/tenants/{id}/resume", post(tenants::resume)),
        at(GET, "/admin/tenants/{id}/stats", get(tenants::stats)),
        at(GET, "/admin/tenants/{id}/jobs", get(jobs_operator::list_of_tenant)),
        at(GET, "/admin/system/audit", get(system_operator::audit)),
        at(GET, "/admin/system/maintenance", get(system_operator::maintenance)),
        at(POST, "/admin/system/maintenance", post(system_operator::set_maintenance)),
        at(GET, "/admin/system/config", get(system_operator::config)),
        at(GET, "/openapi.json", get(openapi::document)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_router_has_the_operations_of_the_table_and_no_others() {
        let routes = table();
        let mounted: BTreeSet<(&str, &str)> = routes.iter().map(|route| (route.path, route.method.as_str())).collect();
        let declared: BTreeSet<(&str, &str)> = OPERATIONS.iter().map(|operation| (operation.path, operation.method)).collect();
        assert_eq!(mounted, declared);
        assert_eq!(mounted.len(), routes.len(), "a route is there twice");
    }
}
