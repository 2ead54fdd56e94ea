// Made from xtask/operations by make gen; do not edit.
// The calls of tests/vectors/operations.json, in their order. `body` is what the vector sends.
#ifndef OPERATION_CALLS_H
#define OPERATION_CALLS_H

#include "ojs_operations.h"

#include "check.h"

typedef ojs_error *(*operation_call)(const ojs_client *client, ojs_slice body, ojs_buf **out);

static ojs_error *bulk_cancel_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_bulk_cancel(client, body, out);
}

static ojs_error *bulk_retry_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_bulk_retry(client, body, out);
}

static ojs_error *bulk_delete_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_bulk_delete(client, body, out);
}

static ojs_error *get_job_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_job(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *explain_job_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_explain_job(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *list_jobs_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_jobs_query query;
    memset(&query, 0, sizeof query);
    query.queue = S("mail");
    query.job_type = S("email.*");
    query.state = S("available");
    query.page = S("2");
    query.per_page = S("50");
    return ojs_list_jobs(client, &query, out);
}

static ojs_error *cancel_job_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_cancel_job(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *set_priority_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_set_priority(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), body, out);
}

static ojs_error *activate_job_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_activate_job(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *retry_job_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_retry_job(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *result_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_result(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *results_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_results(client, body, out);
}

static ojs_error *get_workflow_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_workflow(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *cancel_workflow_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_cancel_workflow(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *list_workflows_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_workflows_query query;
    memset(&query, 0, sizeof query);
    query.state = S("running");
    query.per_page = S("50");
    return ojs_list_workflows(client, &query, out);
}

static ojs_error *list_queues_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_queues(client, out);
}

static ojs_error *queue_stats_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_queue_stats(client, S("mail"), out);
}

static ojs_error *pause_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_pause_queue(client, S("mail"), out);
}

static ojs_error *resume_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_resume_queue(client, S("mail"), out);
}

static ojs_error *create_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_create_queue(client, body, out);
}

static ojs_error *get_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_queue(client, S("mail"), out);
}

static ojs_error *get_queue_2(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_queue(client, S("mail/eu west?ü"), out);
}

static ojs_error *configure_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_configure_queue(client, S("mail"), body, out);
}

static ojs_error *delete_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_delete_queue_query query;
    memset(&query, 0, sizeof query);
    query.strategy = S("move");
    query.target_queue = S("letters");
    return ojs_delete_queue(client, S("mail"), &query, out);
}

static ojs_error *drain_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_drain_queue(client, S("mail"), out);
}

static ojs_error *purge_queue_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_purge_queue(client, S("reports"), body, out);
}

static ojs_error *get_fairness_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_fairness(client, S("mail"), out);
}

static ojs_error *set_fairness_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_set_fairness(client, S("mail"), body, out);
}

static ojs_error *delete_fairness_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_fairness(client, S("mail"), out);
}

static ojs_error *list_rate_limits_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_rate_limits(client, out);
}

static ojs_error *get_rate_limit_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_rate_limit(client, S("stripe"), out);
}

static ojs_error *override_rate_limit_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_override_rate_limit(client, S("stripe"), body, out);
}

static ojs_error *dead_letters_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_dead_letters_query query;
    memset(&query, 0, sizeof query);
    query.queue = S("mail");
    query.limit = S("10");
    query.offset = S("20");
    return ojs_dead_letters(client, &query, out);
}

static ojs_error *get_dead_letter_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_dead_letter(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *retry_dead_letter_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_retry_dead_letter(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *discard_dead_letter_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_discard_dead_letter(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *retry_dead_letters_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_retry_dead_letters(client, body, out);
}

static ojs_error *discard_dead_letters_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_discard_dead_letters_query query;
    memset(&query, 0, sizeof query);
    query.job_type = S("email.*");
    query.until = S("2031-01-01T00:00:00Z");
    return ojs_discard_dead_letters(client, &query, out);
}

static ojs_error *dead_letter_stats_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_dead_letter_stats(client, out);
}

static ojs_error *preview_dead_letters_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_preview_dead_letters_query query;
    memset(&query, 0, sizeof query);
    query.queue = S("mail");
    query.error_type = S("Timeout");
    return ojs_preview_dead_letters(client, &query, out);
}

static ojs_error *preview_dead_letters_2(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_preview_dead_letters_query query;
    memset(&query, 0, sizeof query);
    query.jobs = S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f");
    return ojs_preview_dead_letters(client, &query, out);
}

static ojs_error *list_cron_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_cron(client, out);
}

static ojs_error *get_cron_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_cron(client, S("digest"), out);
}

static ojs_error *enable_cron_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_enable_cron(client, S("digest"), body, out);
}

static ojs_error *run_cron_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_run_cron(client, S("digest"), out);
}

static ojs_error *delete_cron_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_cron(client, S("digest"), out);
}

static ojs_error *list_workers_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_workers_query query;
    memset(&query, 0, sizeof query);
    query.state = S("running");
    query.page = S("1");
    query.per_page = S("100");
    return ojs_list_workers(client, &query, out);
}

static ojs_error *get_worker_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_worker(client, S("mail-1"), out);
}

static ojs_error *direct_worker_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_direct_worker(client, S("mail-1"), S("quiet"), out);
}

static ojs_error *remove_worker_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_remove_worker(client, S("mail-1"), out);
}

static ojs_error *health_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_health(client, out);
}

static ojs_error *manifest_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_manifest(client, out);
}

static ojs_error *server_stats_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_server_stats(client, out);
}

static ojs_error *stats_history_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_stats_history_query query;
    memset(&query, 0, sizeof query);
    query.period = S("1h");
    query.queue = S("mail");
    query.since = S("2031-01-01T00:00:00Z");
    return ojs_stats_history(client, &query, out);
}

static ojs_error *type_stats_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_type_stats_query query;
    memset(&query, 0, sizeof query);
    query.since = S("2031-01-01T00:00:00Z");
    query.sort = S("failed");
    query.limit = S("20");
    return ojs_type_stats(client, &query, out);
}

static ojs_error *maintenance_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_maintenance(client, out);
}

static ojs_error *set_maintenance_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_set_maintenance(client, body, out);
}

static ojs_error *audit_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_audit(client, out);
}

static ojs_error *server_config_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_server_config(client, out);
}

static ojs_error *list_schemas_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_schemas(client, out);
}

static ojs_error *register_schema_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_register_schema(client, body, out);
}

static ojs_error *get_schema_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_schema(client, S("email.send"), out);
}

static ojs_error *get_schema_version_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_schema_version(client, S("email.send"), S("1.0.0"), out);
}

static ojs_error *list_schema_versions_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_schema_versions(client, S("email.send"), out);
}

static ojs_error *set_schema_mode_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_set_schema_mode(client, S("email.send"), S("1.0.0"), body, out);
}

static ojs_error *delete_schema_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_schema(client, S("email.send"), S("1.0.0"), out);
}

static ojs_error *list_trains_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_trains_query query;
    memset(&query, 0, sizeof query);
    query.state = S("held");
    return ojs_list_trains(client, &query, out);
}

static ojs_error *get_train_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_train(client, S("dest_7"), out);
}

static ojs_error *advance_train_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_advance_train(client, S("dest_7"), body, out);
}

static ojs_error *hold_train_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_hold_train(client, S("dest_7"), out);
}

static ojs_error *list_tenants_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_tenants_query query;
    memset(&query, 0, sizeof query);
    query.page = S("2");
    query.per_page = S("50");
    return ojs_list_tenants(client, &query, out);
}

static ojs_error *get_tenant_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_tenant(client, S("acme"), out);
}

static ojs_error *put_tenant_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_put_tenant(client, S("acme"), body, out);
}

static ojs_error *delete_tenant_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_tenant(client, S("acme"), out);
}

static ojs_error *set_tenant_limits_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_set_tenant_limits(client, S("acme"), body, out);
}

static ojs_error *suspend_tenant_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_suspend_tenant(client, S("acme"), out);
}

static ojs_error *resume_tenant_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_resume_tenant(client, S("acme"), out);
}

static ojs_error *tenant_stats_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_tenant_stats(client, S("acme"), out);
}

static ojs_error *tenant_jobs_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_tenant_jobs_query query;
    memset(&query, 0, sizeof query);
    query.queue = S("mail");
    query.state = S("available");
    query.page = S("1");
    query.per_page = S("10");
    return ojs_tenant_jobs(client, S("acme"), &query, out);
}

static ojs_error *noisy_tenants_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_noisy_tenants_query query;
    memset(&query, 0, sizeof query);
    query.depth_factor = S("20");
    query.min_jobs = S("50");
    query.limit = S("10");
    return ojs_noisy_tenants(client, &query, out);
}

static ojs_error *list_webhooks_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_webhooks(client, out);
}

static ojs_error *create_webhook_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_create_webhook(client, body, out);
}

static ojs_error *get_webhook_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_webhook(client, S("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *update_webhook_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_update_webhook(client, S("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), body, out);
}

static ojs_error *delete_webhook_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_webhook(client, S("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *test_webhook_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_test_webhook(client, S("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *rotate_webhook_secret_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_rotate_webhook_secret(client, S("sub_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *list_webhook_deliveries_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_webhook_deliveries_query query;
    memset(&query, 0, sizeof query);
    query.status = S("dead");
    query.limit = S("50");
    return ojs_list_webhook_deliveries(client, &query, out);
}

static ojs_error *get_webhook_delivery_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_webhook_delivery(client, S("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *retry_webhook_delivery_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_retry_webhook_delivery(client, S("del_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *get_progress_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_progress(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *get_workflow_progress_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_workflow_progress(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *save_checkpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_save_checkpoint(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), body, out);
}

static ojs_error *get_checkpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_checkpoint(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *delete_checkpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_checkpoint(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *list_push_endpoints_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_list_push_endpoints(client, out);
}

static ojs_error *create_push_endpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_create_push_endpoint(client, body, out);
}

static ojs_error *get_push_endpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_push_endpoint(client, S("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *update_push_endpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_update_push_endpoint(client, S("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), body, out);
}

static ojs_error *delete_push_endpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_push_endpoint(client, S("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *test_push_endpoint_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_test_push_endpoint(client, S("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *rotate_push_secret_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_rotate_push_secret(client, S("push_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *get_history_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_get_history_query query;
    memset(&query, 0, sizeof query);
    return ojs_get_history(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), &query, out);
}

static ojs_error *get_lineage_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_get_lineage(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *delete_history_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_delete_history(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *history_stats_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_history_stats_query query;
    memset(&query, 0, sizeof query);
    query.since = S("2031-01-01T00:00:00Z");
    query.queues = S("mail");
    query.group_by = S("day");
    return ojs_history_stats(client, &query, out);
}

static ojs_error *list_error_groups_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_error_groups_query query;
    memset(&query, 0, sizeof query);
    query.queue = S("mail");
    query.job_type = S("email.*");
    query.error_type = S("Timeout");
    query.tenant = S("acme");
    query.since = S("2031-01-01T00:00:00Z");
    query.sort = S("count");
    query.page = S("2");
    query.per_page = S("50");
    return ojs_list_error_groups(client, &query, out);
}

static ojs_error *get_error_group_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_get_error_group_query query;
    memset(&query, 0, sizeof query);
    query.queue = S("mail");
    return ojs_get_error_group(client, S("1f0c5f9d2a7be643"), &query, out);
}

static ojs_error *start_bulk_operation_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    return ojs_start_bulk_operation(client, body, out);
}

static ojs_error *list_bulk_operations_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_bulk_operations_query query;
    memset(&query, 0, sizeof query);
    query.state = S("running");
    query.per_page = S("50");
    return ojs_list_bulk_operations(client, &query, out);
}

static ojs_error *get_bulk_operation_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_get_bulk_operation_query query;
    memset(&query, 0, sizeof query);
    query.wait_ms = S("30000");
    return ojs_get_bulk_operation(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), &query, out);
}

static ojs_error *pause_bulk_operation_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_pause_bulk_operation(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *resume_bulk_operation_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_resume_bulk_operation(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *cancel_bulk_operation_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    return ojs_cancel_bulk_operation(client, S("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"), out);
}

static ojs_error *list_relays_1(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    (void)body;
    ojs_list_relays_query query;
    memset(&query, 0, sizeof query);
    query.state = S("stuck");
    query.page = S("2");
    query.per_page = S("50");
    return ojs_list_relays(client, &query, out);
}

static const operation_call operation_calls[] = {
    bulk_cancel_1,
    bulk_retry_1,
    bulk_delete_1,
    get_job_1,
    explain_job_1,
    list_jobs_1,
    cancel_job_1,
    set_priority_1,
    activate_job_1,
    retry_job_1,
    result_1,
    results_1,
    get_workflow_1,
    cancel_workflow_1,
    list_workflows_1,
    list_queues_1,
    queue_stats_1,
    pause_queue_1,
    resume_queue_1,
    create_queue_1,
    get_queue_1,
    get_queue_2,
    configure_queue_1,
    delete_queue_1,
    drain_queue_1,
    purge_queue_1,
    get_fairness_1,
    set_fairness_1,
    delete_fairness_1,
    list_rate_limits_1,
    get_rate_limit_1,
    override_rate_limit_1,
    dead_letters_1,
    get_dead_letter_1,
    retry_dead_letter_1,
    discard_dead_letter_1,
    retry_dead_letters_1,
    discard_dead_letters_1,
    dead_letter_stats_1,
    preview_dead_letters_1,
    preview_dead_letters_2,
    list_cron_1,
    get_cron_1,
    enable_cron_1,
    run_cron_1,
    delete_cron_1,
    list_workers_1,
    get_worker_1,
    direct_worker_1,
    remove_worker_1,
    health_1,
    manifest_1,
    server_stats_1,
    stats_history_1,
    type_stats_1,
    maintenance_1,
    set_maintenance_1,
    audit_1,
    server_config_1,
    list_schemas_1,
    register_schema_1,
    get_schema_1,
    get_schema_version_1,
    list_schema_versions_1,
    set_schema_mode_1,
    delete_schema_1,
    list_trains_1,
    get_train_1,
    advance_train_1,
    hold_train_1,
    list_tenants_1,
    get_tenant_1,
    put_tenant_1,
    delete_tenant_1,
    set_tenant_limits_1,
    suspend_tenant_1,
    resume_tenant_1,
    tenant_stats_1,
    tenant_jobs_1,
    noisy_tenants_1,
    list_webhooks_1,
    create_webhook_1,
    get_webhook_1,
    update_webhook_1,
    delete_webhook_1,
    test_webhook_1,
    rotate_webhook_secret_1,
    list_webhook_deliveries_1,
    get_webhook_delivery_1,
    retry_webhook_delivery_1,
    get_progress_1,
    get_workflow_progress_1,
    save_checkpoint_1,
    get_checkpoint_1,
    delete_checkpoint_1,
    list_push_endpoints_1,
    create_push_endpoint_1,
    get_push_endpoint_1,
    update_push_endpoint_1,
    delete_push_endpoint_1,
    test_push_endpoint_1,
    rotate_push_secret_1,
    get_history_1,
    get_lineage_1,
    delete_history_1,
    history_stats_1,
    list_error_groups_1,
    get_error_group_1,
    start_bulk_operation_1,
    list_bulk_operations_1,
    get_bulk_operation_1,
    pause_bulk_operation_1,
    resume_bulk_operation_1,
    cancel_bulk_operation_1,
    list_relays_1,
};

#endif
