//! Every route below `/ojs/v1` and who answers it: those of the kernel, and those that features declare. What a key
//! must allow comes from the operations of xtask/operations, with which a test compares this table.
use crate::features;
use crate::http::route::Route;
use crate::http::{aliases, events, health, jobs, openapi, queues, streams, websocket, workers};

/// All of them.
pub fn table() -> Vec<Route> {
    let mut routes = of_kernel();
    routes.extend(features::ALL.iter().flat_map(|feature| (feature.routes)()));
    routes
}

/// What needs no feature.
fn of_kernel() -> Vec<Route> {
    vec![
        Route::get("/health", health::health).of_tenants(),
        Route::post("/jobs/batch", jobs::enqueue_batch).of_tenants(),
        Route::get("/jobs/{id}", jobs::get).of_tenants(),
        Route::patch("/jobs/{id}", jobs::patch).of_tenants(),
        Route::delete("/jobs/{id}", jobs::cancel).of_tenants(),
        Route::get("/jobs/{id}/events", streams::job).of_tenants(),
        Route::post("/jobs/{id}/activate", jobs::activate).of_tenants(),
        Route::post("/workers/progress", aliases::progress).of_tenants(),
        Route::put("/checkpoints/{id}", aliases::save_checkpoint).of_tenants(),
        Route::post("/checkpoints/{id}", aliases::save_checkpoint).of_tenants(),
        Route::get("/checkpoints/{id}/resume", aliases::resume).of_tenants(),
        Route::post("/jobs/{id}/ack", aliases::ack).of_tenants(),
        Route::post("/jobs/{id}/nack", aliases::nack).of_tenants(),
        Route::post("/jobs/{id}/cancel", jobs::cancel).of_tenants(),
        Route::post("/jobs/fetch", workers::fetch).of_tenants(),
        Route::post("/workers/fetch", workers::fetch).of_tenants(),
        Route::post("/workers/ack", workers::ack).of_tenants(),
        Route::post("/workers/nack", workers::nack).of_tenants(),
        Route::post("/workers/heartbeat", workers::heartbeat).of_tenants(),
        Route::post("/workers/beat", workers::heartbeat).of_tenants(),
        Route::post("/workers/exchange", workers::exchange).of_tenants(),
        Route::get("/queues", queues::list).of_tenants(),
        Route::post("/queues/{name}/drain", queues::drain),
        Route::get("/queues/{name}/stats", queues::stats).of_tenants(),
        Route::get("/queues/{name}/events", streams::queue).of_tenants(),
        Route::post("/queues/{name}/pause", queues::pause),
        Route::post("/queues/{name}/resume", queues::resume),
        Route::get("/events", events::poll).of_tenants(),
        Route::get("/events/stream", streams::all).of_tenants(),
        Route::get("/ws", websocket::open).of_tenants(),
        Route::get("/openapi.json", openapi::document).of_tenants(),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::http::operations::OPERATIONS;

    #[test]
    fn the_router_has_the_operations_of_the_table_and_no_others() {
        let routes = table();
        let mounted: BTreeSet<(&str, &str)> = routes.iter().map(|route| (route.path, route.method.as_str())).collect();
        let declared: BTreeSet<(&str, &str)> = OPERATIONS.iter().map(|operation| (operation.path, operation.method)).collect();
        assert_eq!(mounted, declared);
        assert_eq!(mounted.len(), routes.len(), "a route is there twice");
    }
}
