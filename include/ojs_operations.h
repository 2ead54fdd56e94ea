// The operations of the server as functions over ojs_client_call(): each makes the path and the query, and gives the
// body of a 2xx answer in `out`. What they do, answer and are refused with: docs/reference/operations.md.
//
//     ojs_buf *job;
//     ojs_error *error = ojs_get_job(client, id, &job);
//
// A slice without a pointer is a parameter that is not given, and NULL in place of a structure is one in which none
// is. Bodies are JSON. Enqueueing, workers and streams are in ojs.h.
//
// Made from xtask/operations by make gen; do not edit.
#ifndef OJS_OPERATIONS_H
#define OJS_OPERATIONS_H

#include "ojs.h"

#include <stdlib.h>
#include <string.h>

// A path that is being made; `at` is NULL when there is no memory for it.
typedef struct {
    char *at;
    size_t len;
    bool has_query;
} ojs_path;

static inline ojs_slice ojs_path_text(const char *text) {
    ojs_slice slice;
    slice.ptr = (const uint8_t *)text;
    slice.len = text ? strlen(text) : 0;
    return slice;
}

static inline ojs_path ojs_path_begin(const char *text) {
    ojs_path path = {(char *)malloc(strlen(text) + 1), strlen(text), false};
    if (path.at) memcpy(path.at, text, path.len);
    return path;
}

// Appends bytes; those that have a meaning in paths are written as %XX unless they are `plain`.
static inline void ojs_path_push(ojs_path *path, ojs_slice bytes, bool plain) {
    static const char hex[] = "0123456789ABCDEF";
    char *grown = path->at ? (char *)realloc(path->at, path->len + 3 * bytes.len + 1) : NULL;
    if (!grown) free(path->at);
    path->at = grown;
    for (size_t n = 0; grown && n < bytes.len; n++) {
        uint8_t c = bytes.ptr[n];
        bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
        if (plain || safe) {
            grown[path->len++] = (char)c;
        } else {
            grown[path->len++] = '%';
            grown[path->len++] = hex[c >> 4];
            grown[path->len++] = hex[c & 15];
        }
    }
}

// Appends `name=value` to the query. A value that is not given is the default; without one nothing is appended.
static inline void ojs_path_query(ojs_path *path, const char *name, ojs_slice value, const char *otherwise) {
    if (!value.ptr) value = ojs_path_text(otherwise);
    if (!value.ptr) return;
    ojs_path_push(path, ojs_path_text(path->has_query ? "&" : "?"), true);
    ojs_path_push(path, ojs_path_text(name), true);
    ojs_path_push(path, ojs_path_text("="), true);
    ojs_path_push(path, value, false);
    path->has_query = true;
}

// Makes the call and frees the path. Without memory for the path the call is refused as one without a path.
OJS_MUST_USE
static inline ojs_error *ojs_path_call(ojs_path *path, const ojs_client *client, const char *method, ojs_slice body, ojs_buf **out) {
    ojs_slice made;
    made.ptr = (const uint8_t *)path->at;
    made.len = path->at ? path->len : 0;
    ojs_error *error = ojs_client_call(client, ojs_path_text(method), made, body, out);
    free(path->at);
    return error;
}

// Cancels many jobs. By ids: every job that has not ended. By a filter: the jobs that wait, unless the filter names
// other states. Jobs that cannot be cancelled are skipped, and their items say why; with "atomic" one such job keeps
// the others from being cancelled.
// The body has these members:
//   - job_ids: The ids of the jobs. An array.
//   - filter.queue: Only jobs of this queue.
//   - filter.type: Only this job type; "email.*" is all types that start with "email.".
//   - filter.state: Only jobs in one of these states. An array.
//   - filter.enqueued_after: Only jobs enqueued after this time. A time, RFC 3339.
//   - filter.enqueued_before: Only jobs enqueued before this time. A time, RFC 3339.
//   - filter.priority: Only jobs of this priority. Integer.
//   - filter.meta: Only jobs whose metadata has these members.
//   - atomicity: All of the jobs, or none.
OJS_MUST_USE
static inline ojs_error *ojs_bulk_cancel(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/bulk/cancel");
    return ojs_path_call(&path, client, "POST", body, out);
}

// Runs many jobs again: discarded jobs with all their attempts, retryable jobs at once instead of after their pause.
// Jobs that cannot be retried are skipped, and their items say why; with "atomic" one such job keeps the others from
// being retried.
// The body has these members:
//   - job_ids: The ids of the jobs. An array.
//   - filter.queue: Only jobs of this queue.
//   - filter.type: Only this job type; "email.*" is all types that start with "email.".
//   - filter.state: Only jobs in one of these states. An array.
//   - filter.enqueued_after: Only jobs enqueued after this time. A time, RFC 3339.
//   - filter.enqueued_before: Only jobs enqueued before this time. A time, RFC 3339.
//   - filter.priority: Only jobs of this priority. Integer.
//   - filter.meta: Only jobs whose metadata has these members.
//   - atomicity: All of the jobs, or none.
OJS_MUST_USE
static inline ojs_error *ojs_bulk_retry(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/bulk/retry");
    return ojs_path_call(&path, client, "POST", body, out);
}

// Deletes many jobs that have ended. A deleted job cannot be brought back. Jobs that cannot be deleted are skipped,
// and their items say why; with "atomic" one such job keeps the others from being deleted.
// The body has these members:
//   - job_ids: The ids of the jobs. An array.
//   - filter.queue: Only jobs of this queue.
//   - filter.type: Only this job type; "email.*" is all types that start with "email.".
//   - filter.state: Only jobs in one of these states. An array.
//   - filter.enqueued_after: Only jobs enqueued after this time. A time, RFC 3339.
//   - filter.enqueued_before: Only jobs enqueued before this time. A time, RFC 3339.
//   - filter.priority: Only jobs of this priority. Integer.
//   - filter.meta: Only jobs whose metadata has these members.
//   - atomicity: All of the jobs, or none.
OJS_MUST_USE
static inline ojs_error *ojs_bulk_delete(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/bulk/delete");
    return ojs_path_call(&path, client, "POST", body, out);
}

// The job with this id.
OJS_MUST_USE
static inline ojs_error *ojs_get_job(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Why a job is not running: a "summary", and "reasons" in the order in which they have to end. Each reason has "code"
// and "message", and where they are known "since", "until", "link" (a path of the API that shows what holds the job),
// "command" (one of the tool "ojs" that helps) and "details". A job that runs, has ended, or is handed out by the next
// fetch has no reasons. The answer reads a bounded number of rows, however many jobs there are.
OJS_MUST_USE
static inline ojs_error *ojs_explain_job(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/explain"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_list_jobs().
typedef struct {
    // Only jobs of this queue.
    ojs_slice queue;
    // Only this job type; "email.*" is all types that start with "email.".
    ojs_slice job_type;
    // Only jobs in this state.
    ojs_slice state;
    // Only jobs created at this time or later. A time, RFC 3339.
    ojs_slice since;
    // Only jobs created before this time. A time, RFC 3339.
    ojs_slice until;
    // What the list is sorted by; "created_at" without it. One of created_at, scheduled_at, priority.
    ojs_slice sort;
    // The direction of the sort; "desc" without it: the newest or the highest priority first. One of asc, desc.
    ojs_slice order;
    // The number of the page. The first page is 1. Integer.
    ojs_slice page;
    // The most jobs on one page, 1 to 100. Integer.
    ojs_slice per_page;
} ojs_list_jobs_query;

// One page of the jobs that the filter finds, the newest first unless the list is sorted otherwise. There is another
// page while the page says that it has more. Jobs that come and go between two pages move the others, but not after a
// "cursor", which is the "next_cursor" of the page before. With a cursor, or with "count=false", a page looks at 5,000
// rows at most and has no total: it may be short, or empty, say "complete: false", and have a "next_cursor" all the
// same. Pages with numbers look at a million rows at most, count what is in the first 20,000, and begin at most 10,000
// jobs behind the first. With "q", a page compares 1,000 jobs at most and always goes on by cursors; the guide of the
// dashboard has the words of the language.
OJS_MUST_USE
static inline ojs_error *ojs_list_jobs(const ojs_client *client, const ojs_list_jobs_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/jobs");
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "type", query ? query->job_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "since", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "until", query ? query->until : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "sort", query ? query->sort : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "order", query ? query->order : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), "1");
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), "100");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Cancels the job. A worker that runs it is told to stop.
OJS_MUST_USE
static inline ojs_error *ojs_cancel_job(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Changes the priority of a job that waits.
// The body has these members:
//   - priority: The new priority. Higher runs earlier. Integer.
OJS_MUST_USE
static inline ojs_error *ojs_set_priority(const ojs_client *client, ojs_slice job_id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    return ojs_path_call(&path, client, "PATCH", body, out);
}

// Makes a job available that was enqueued as pending.
OJS_MUST_USE
static inline ojs_error *ojs_activate_job(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/activate"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Runs a discarded job again, with all its attempts. A cancelled job stays cancelled.
OJS_MUST_USE
static inline ojs_error *ojs_retry_job(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/retry"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// How the job ended, and what its handler returned. The request is refused with status 408 while the job has not
// ended, and with 410 when its result is no longer kept.
OJS_MUST_USE
static inline ojs_error *ojs_result(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/result"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// How up to 1,000 jobs ended, in the order of the ids. Nothing stands for a job that is unknown, that has not ended,
// or whose result is no longer kept.
// The body has these members:
//   - ids: The ids of the jobs. An array.
OJS_MUST_USE
static inline ojs_error *ojs_results(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/results");
    return ojs_path_call(&path, client, "POST", body, out);
}

// The state of the workflow and of its steps.
OJS_MUST_USE
static inline ojs_error *ojs_get_workflow(const ojs_client *client, ojs_slice workflow_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/workflows/");
    ojs_path_push(&path, workflow_id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Cancels the jobs of the workflow that have not begun. Jobs that run may finish.
OJS_MUST_USE
static inline ojs_error *ojs_cancel_workflow(const ojs_client *client, ojs_slice workflow_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/workflows/");
    ojs_path_push(&path, workflow_id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// The query of ojs_list_workflows().
typedef struct {
    // Only workflows in this state. One of pending, running, completed, failed, cancelled.
    ojs_slice state;
    // The number of the page. The first page is 1. Integer.
    ojs_slice page;
    // The most workflows on one page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_list_workflows_query;

// Workflows without their steps, the newest first. A workflow inside another one is a step of it, and not listed.
OJS_MUST_USE
static inline ojs_error *ojs_list_workflows(const ojs_client *client, const ojs_list_workflows_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/workflows");
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// All queues with their status.
OJS_MUST_USE
static inline ojs_error *ojs_list_queues(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues");
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// How many jobs of the queue are in which state.
OJS_MUST_USE
static inline ojs_error *ojs_queue_stats(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/stats"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Stops handing out jobs of the queue until ojs_resume_queue(). Jobs can still be enqueued. A queue that does not
// exist is made, paused: the protocol answers 200 for every name. "ojs queues pause" asks first.
OJS_MUST_USE
static inline ojs_error *ojs_pause_queue(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/pause"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Hands out jobs of the queue again, and accepts new ones.
OJS_MUST_USE
static inline ojs_error *ojs_resume_queue(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/resume"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Creates a queue with settings, such as "concurrency", "max_size", "rate_limit" and "retention".
// The body has these members:
//   - name: The name of the queue.
//   - config: The settings, by their names on the wire.
OJS_MUST_USE
static inline ojs_error *ojs_create_queue(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues");
    return ojs_path_call(&path, client, "POST", body, out);
}

// A queue with its settings and counts.
OJS_MUST_USE
static inline ojs_error *ojs_get_queue(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Changes the settings that are named and leaves the others. A setting of null goes back to the template, the queue
// "_default".
// The body has these members:
//   - config: The settings, by their names on the wire.
OJS_MUST_USE
static inline ojs_error *ojs_configure_queue(const ojs_client *client, ojs_slice name, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/config"), true);
    return ojs_path_call(&path, client, "PUT", body, out);
}

// The query of ojs_delete_queue().
typedef struct {
    // What happens to the jobs of the queue. One of reject, discard, move.
    ojs_slice strategy;
    // Where the jobs go, for the strategy "move".
    ojs_slice target_queue;
} ojs_delete_queue_query;

// Deletes the queue. A queue that holds jobs is deleted only if they may be discarded or moved.
OJS_MUST_USE
static inline ojs_error *ojs_delete_queue(const ojs_client *client, ojs_slice name, const ojs_delete_queue_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_query(&path, "strategy", query ? query->strategy : ojs_path_text(NULL), "reject");
    ojs_path_query(&path, "target_queue", query ? query->target_queue : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Accepts no more jobs for the queue and hands out those that are in it, until ojs_resume_queue().
OJS_MUST_USE
static inline ojs_error *ojs_drain_queue(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/drain"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Removes the jobs of the queue that are in one of these states, and returns how many. They cannot be brought back.
// Jobs that wait are cancelled first, so that workflows go on. Active jobs are never removed.
// The body has "confirm":true, "limit":10000, and these members:
//   - states: The states of the jobs to remove. An array.
//   - older_than: Only jobs older than this: a time, or a length of time before now. A time, or an ISO 8601 duration.
OJS_MUST_USE
static inline ojs_error *ojs_purge_queue(const ojs_client *client, ojs_slice name, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/jobs"), true);
    return ojs_path_call(&path, client, "DELETE", body, out);
}

// How the jobs of a queue are shared: by tenant or by key, and with which weights.
OJS_MUST_USE
static inline ojs_error *ojs_get_fairness(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/fairness"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Shares the jobs of a queue, those that wait included: among jobs of one priority, keys get jobs handed out in turn,
// in proportion to their weights. The settings are "by" ("tenant", the default, or "key": the "fairness_key" of a job,
// and its tenant where it names none), "weights" by id of the tenant or by key (1 to 1000, at most 100), and
// "default_weight" for all others (1). A tenant without a weight has the "fairness_weight" of its limits. What is left
// out has its default, and "enabled" of "false" ends the sharing. The answer is 201 when the queue was not shared
// before.
// The body has these members:
//   - sharing: The settings, by their names on the wire.
OJS_MUST_USE
static inline ojs_error *ojs_set_fairness(const ojs_client *client, ojs_slice name, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/fairness"), true);
    return ojs_path_call(&path, client, "PUT", body, out);
}

// Ends the sharing of a queue: its jobs are handed out in their order again.
OJS_MUST_USE
static inline ojs_error *ojs_delete_fairness(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/queues/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/fairness"), true);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// The keys that have limits, with how much of each limit is used.
OJS_MUST_USE
static inline ojs_error *ojs_list_rate_limits(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/rate-limits");
    ojs_path_query(&path, "limit", ojs_path_text("200"), NULL);
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The limits of a key, with how much of each is used.
OJS_MUST_USE
static inline ojs_error *ojs_get_rate_limit(const ojs_client *client, ojs_slice key, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/rate-limits/");
    ojs_path_push(&path, key, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Gives a key other limits until a time, for example "concurrency" 2. Without any limit the override ends.
// The body has these members:
//   - limits: The limits, by their names on the wire.
//   - expires_at: When the override ends. A time, RFC 3339.
OJS_MUST_USE
static inline ojs_error *ojs_override_rate_limit(const ojs_client *client, ojs_slice key, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/rate-limits/");
    ojs_path_push(&path, key, false);
    return ojs_path_call(&path, client, "PUT", body, out);
}

// The query of ojs_dead_letters().
typedef struct {
    // Only jobs of this queue.
    ojs_slice queue;
    // Only this job type.
    ojs_slice job_type;
    // The most jobs in the answer, 1 to 200; 50 without it. Integer.
    ojs_slice limit;
    // How many jobs are passed over. Integer.
    ojs_slice offset;
} ojs_dead_letters_query;

// Jobs that failed for good and were kept, the newest first. Where more than 20,000 dead letters are kept, a filter is
// compared with 20,000 of them at a time. The answer says so: "total_relation" is "gte", and "total" counts what was
// found among the newest 20,000. A page may be short then, or empty; "next_cursor" leads on while it is there.
OJS_MUST_USE
static inline ojs_error *ojs_dead_letters(const ojs_client *client, const ojs_dead_letters_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter");
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "type", query ? query->job_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "limit", query ? query->limit : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "offset", query ? query->offset : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The dead letter with this id.
OJS_MUST_USE
static inline ojs_error *ojs_get_dead_letter(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter/");
    ojs_path_push(&path, job_id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Runs a dead letter again, with all its attempts.
OJS_MUST_USE
static inline ojs_error *ojs_retry_dead_letter(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/retry"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Deletes a dead letter. It cannot be brought back.
OJS_MUST_USE
static inline ojs_error *ojs_discard_dead_letter(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter/");
    ojs_path_push(&path, job_id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Runs all dead letters again that the filter finds, and returns how many. Without a filter it is all of them.
// The body has "confirm":true, and these members:
//   - filter.queue: Only jobs of this queue.
//   - filter.type: Only this job type; "email.*" is all types that start with "email.".
//   - filter.error_type: Only jobs whose last error is of this type.
//   - filter.since: Only jobs discarded at this time or later. A time, RFC 3339.
//   - filter.until: Only jobs discarded before this time. A time, RFC 3339.
OJS_MUST_USE
static inline ojs_error *ojs_retry_dead_letters(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter/retry");
    return ojs_path_call(&path, client, "POST", body, out);
}

// The query of ojs_discard_dead_letters().
typedef struct {
    // Only jobs of this queue.
    ojs_slice queue;
    // Only this job type; "email.*" is all types that start with "email.".
    ojs_slice job_type;
    // Only jobs whose last error is of this type.
    ojs_slice error_type;
    // Only jobs discarded at this time or later. A time, RFC 3339.
    ojs_slice since;
    // Only jobs discarded before this time. A time, RFC 3339.
    ojs_slice until;
} ojs_discard_dead_letters_query;

// Deletes all dead letters that the filter finds, and returns how many. Without a filter it is all of them.
OJS_MUST_USE
static inline ojs_error *ojs_discard_dead_letters(const ojs_client *client, const ojs_discard_dead_letters_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter");
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "type", query ? query->job_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "error_type", query ? query->error_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "since", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "until", query ? query->until : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "confirm", ojs_path_text("true"), NULL);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// How many dead letters there are, by queue and by type of error, and since when. Where more than 20,000 are kept, the
// numbers in "by_error_type" are those of the newest 20,000: "by_error_type_relation" is "gte". A caller of a tenant
// gets all numbers so, with "total_relation" and "by_queue_relation".
OJS_MUST_USE
static inline ojs_error *ojs_dead_letter_stats(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter/stats");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_preview_dead_letters().
typedef struct {
    // Only jobs of this queue.
    ojs_slice queue;
    // Only this job type; "email.*" is all types that start with "email.".
    ojs_slice job_type;
    // Only jobs whose last error is of this type.
    ojs_slice error_type;
    // Only jobs discarded at this time or later. A time, RFC 3339.
    ojs_slice since;
    // Only jobs discarded before this time. A time, RFC 3339.
    ojs_slice until;
    // These jobs instead: their ids with commas between them, 100 at most.
    ojs_slice jobs;
} ojs_preview_dead_letters_query;

// What would come of running dead letters again: which would be refused, which would wait and for what, and which
// would run although an enqueue of the same job would be refused. Nothing is changed. "matched" dead letters are meant
// (at least so many where "matched_relation" is "gte": a filter is compared with 20,000), of which the newest 500 are
// looked at ("looked_at", "complete"). Of these "would_run", "would_wait" and "would_be_refused" say how many;
// "with_warnings" run or wait beside that. Each of "reasons" has "code", "effect" ("refused", "waits" or "warning"),
// "message", the number of "jobs", the first of them as "job_id" and, where there is one, the "command" that helps.
// "jobs" has the first 20 jobs that meet one. Limits that free themselves as jobs end (full workers, concurrency,
// rates) are no reason.
OJS_MUST_USE
static inline ojs_error *ojs_preview_dead_letters(const ojs_client *client, const ojs_preview_dead_letters_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/dead-letter/preview");
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "type", query ? query->job_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "error_type", query ? query->error_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "since", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "until", query ? query->until : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "job_ids", query ? query->jobs : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// All cron entries.
OJS_MUST_USE
static inline ojs_error *ojs_list_cron(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/cron");
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The cron entry of this name.
OJS_MUST_USE
static inline ojs_error *ojs_get_cron(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/cron/");
    ojs_path_push(&path, name, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Enables the cron entry, or disables it. A disabled entry enqueues no jobs.
// The body has these members:
//   - enabled: Whether the entry enqueues jobs. Boolean.
OJS_MUST_USE
static inline ojs_error *ojs_enable_cron(const ojs_client *client, ojs_slice name, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/cron/");
    ojs_path_push(&path, name, false);
    return ojs_path_call(&path, client, "PATCH", body, out);
}

// Enqueues a job of the cron entry now, whether the entry is enabled or not. Its schedule stays. The overlap policy
// holds: while the latest job of the entry goes on, "skip" and "enqueue" answer with 409 "conflict", and
// "cancel_previous" cancels that job.
OJS_MUST_USE
static inline ojs_error *ojs_run_cron(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/cron/");
    ojs_path_push(&path, name, false);
    ojs_path_push(&path, ojs_path_text("/run"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Deletes the cron entry. The jobs that it has enqueued stay.
OJS_MUST_USE
static inline ojs_error *ojs_delete_cron(const ojs_client *client, ojs_slice name, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/cron/");
    ojs_path_push(&path, name, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// The query of ojs_list_workers().
typedef struct {
    // Only workers in this state.
    ojs_slice state;
    // The number of the page. The first page is 1. Integer.
    ojs_slice page;
    // The most workers on one page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_list_workers_query;

// The workers that the server knows, with what each of them does.
OJS_MUST_USE
static inline ojs_error *ojs_list_workers(const ojs_client *client, const ojs_list_workers_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/workers");
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The worker with this id.
OJS_MUST_USE
static inline ojs_error *ojs_get_worker(const ojs_client *client, ojs_slice worker_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/workers/");
    ojs_path_push(&path, worker_id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Tells a worker to take no more jobs ("quiet"), to stop ("terminate"), or to take jobs again ("resume"). The worker
// hears of it with its next heartbeat.
OJS_MUST_USE
static inline ojs_error *ojs_direct_worker(const ojs_client *client, ojs_slice worker_id, ojs_slice directive, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/workers/");
    ojs_path_push(&path, worker_id, false);
    ojs_path_push(&path, ojs_path_text("/"), true);
    ojs_path_push(&path, directive, false);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Removes a worker that no longer sends heartbeats. Its jobs go back to their queues.
OJS_MUST_USE
static inline ojs_error *ojs_remove_worker(const ojs_client *client, ojs_slice worker_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/workers/");
    ojs_path_push(&path, worker_id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Whether the server works, with its version, its store and how long it has run.
OJS_MUST_USE
static inline ojs_error *ojs_health(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/health");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// What the server is, and what it can do.
OJS_MUST_USE
static inline ojs_error *ojs_manifest(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/ojs/manifest");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Jobs by state, throughput, latency and workers of the whole server.
OJS_MUST_USE
static inline ojs_error *ojs_server_stats(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/stats");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_stats_history().
typedef struct {
    // The length of each period; "1m" without it. One of 1m, 5m, 1h, 1d.
    ojs_slice period;
    // Only this queue.
    ojs_slice queue;
    // From this time on. A time, RFC 3339.
    ojs_slice since;
    // Up to this time. A time, RFC 3339.
    ojs_slice until;
} ojs_stats_history_query;

// Throughput and latency over time, oldest first. Periods in which nothing ran are left out.
OJS_MUST_USE
static inline ojs_error *ojs_stats_history(const ojs_client *client, const ojs_stats_history_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/stats/history");
    ojs_path_query(&path, "period", query ? query->period : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "since", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "until", query ? query->until : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_type_stats().
typedef struct {
    // From this time on; an hour ago without it. A time, RFC 3339.
    ojs_slice since;
    // Up to this time, at most 7 days later; now without it. A time, RFC 3339.
    ojs_slice until;
    // What comes first, the largest: "processed" (the default), "enqueued", "failed", "discarded", "busy", "latency"
    // or "wait".
    ojs_slice sort;
    // The most types in the answer, 1 to 200; 50 without it. Integer.
    ojs_slice limit;
} ojs_type_stats_query;

// What happened to the jobs of each type over a length of time: how many, how long they ran and waited. An item has
// "type", "enqueued", "processed", "failed", "discarded", "busy_ms" (the time that completed attempts have taken),
// "latency_ms" and "wait_ms" with "p50", "p95" and "p99". In a minute and in an hour 200 types are told apart; the
// others are the type "_other". Figures are kept by minutes for two hours and by hours for 30 days, so an earlier
// "since" counts from the beginning of its hour.
OJS_MUST_USE
static inline ojs_error *ojs_type_stats(const ojs_client *client, const ojs_type_stats_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/stats/types");
    ojs_path_query(&path, "since", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "until", query ? query->until : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "sort", query ? query->sort : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "limit", query ? query->limit : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Whether the server is in maintenance, since when and why.
OJS_MUST_USE
static inline ojs_error *ojs_maintenance(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/system/maintenance");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Begins or ends maintenance. During it jobs are accepted, and none is handed out.
// The body has these members:
//   - enabled: Whether the server is in maintenance. Boolean.
//   - reason: Why, for those who ask.
//   - estimated_duration: How long it will take, such as "PT30M". An ISO 8601 duration.
OJS_MUST_USE
static inline ojs_error *ojs_set_maintenance(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/system/maintenance");
    return ojs_path_call(&path, client, "POST", body, out);
}

// Compares the rows of the server's store with each other and changes nothing: counts with jobs, jobs with their
// bodies, workflows with their steps, and so on. "sound" is true when nothing contradicts anything. "findings" has the
// first 1,000 contradictions, each with the check, the row, what was compared, and both values; "total" counts them
// all. The time grows with the number of jobs. It takes one of the two connections for lists and searches; everything
// else goes on, but for a store in memory, where all wait.
OJS_MUST_USE
static inline ojs_error *ojs_audit(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/system/audit");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The settings that the server runs with. There are no secrets among them.
OJS_MUST_USE
static inline ojs_error *ojs_server_config(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/system/config");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The registered schemas of all job types, without their texts, in order of job type and version.
OJS_MUST_USE
static inline ojs_error *ojs_list_schemas(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas");
    ojs_path_query(&path, "limit", ojs_path_text("200"), NULL);
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Registers the JSON Schema of the arguments of a job type. A registered version never changes. With "mode" "strict"
// jobs that do not match are refused, with "warn", the default, they are accepted with warnings, with "off" they are
// not compared. Within a major version, a schema that refuses what the version before accepted is refused itself.
// The body has these members:
//   - job_type: The job type.
//   - version: The version: "2", "2.1" or "2.1.0".
//   - schema: A JSON Schema, draft 2020-12, for the array of arguments.
//   - mode: What happens to jobs that do not match. One of strict, warn, off.
OJS_MUST_USE
static inline ojs_error *ojs_register_schema(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas");
    return ojs_path_call(&path, client, "POST", body, out);
}

// The schema of the highest version of a job type.
OJS_MUST_USE
static inline ojs_error *ojs_get_schema(const ojs_client *client, ojs_slice job_type, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas/");
    ojs_path_push(&path, job_type, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The schema of a version of a job type.
OJS_MUST_USE
static inline ojs_error *ojs_get_schema_version(const ojs_client *client, ojs_slice job_type, ojs_slice version, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas/");
    ojs_path_push(&path, job_type, false);
    ojs_path_push(&path, ojs_path_text("/"), true);
    ojs_path_push(&path, version, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The versions of a job type, highest first.
OJS_MUST_USE
static inline ojs_error *ojs_list_schema_versions(const ojs_client *client, ojs_slice job_type, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas/");
    ojs_path_push(&path, job_type, false);
    ojs_path_push(&path, ojs_path_text("/versions"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Changes what happens to jobs that do not match a version. Jobs that are stored are not looked at again.
// The body has these members:
//   - mode: "strict", "warn" or "off". One of strict, warn, off.
OJS_MUST_USE
static inline ojs_error *ojs_set_schema_mode(const ojs_client *client, ojs_slice job_type, ojs_slice version, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas/");
    ojs_path_push(&path, job_type, false);
    ojs_path_push(&path, ojs_path_text("/"), true);
    ojs_path_push(&path, version, false);
    return ojs_path_call(&path, client, "PATCH", body, out);
}

// Deletes a version. Jobs that were stored under it stay.
OJS_MUST_USE
static inline ojs_error *ojs_delete_schema(const ojs_client *client, ojs_slice job_type, ojs_slice version, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/schemas/");
    ojs_path_push(&path, job_type, false);
    ojs_path_push(&path, ojs_path_text("/"), true);
    ojs_path_push(&path, version, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// The query of ojs_list_trains().
typedef struct {
    // Only trains in this state: "running", "draining" or "held".
    ojs_slice state;
} ojs_list_trains_query;

// The trains that have jobs, in the order of their ids, or only those in one state; the one that was held first comes
// first.
OJS_MUST_USE
static inline ojs_error *ojs_list_trains(const ojs_client *client, const ojs_list_trains_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/trains");
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "limit", ojs_path_text("200"), NULL);
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// A train: its state, its locomotive, which is the one job that may run, and its jobs in the order in which they run.
OJS_MUST_USE
static inline ojs_error *ojs_get_train(const ojs_client *client, ojs_slice train_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/trains/");
    ojs_path_push(&path, train_id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Ends the hold of a train: a locomotive that has ended leaves it, and the next job may run.
// The body has "confirm":true, and these members:
//   - job_id: Only if this job is the locomotive.
OJS_MUST_USE
static inline ojs_error *ojs_advance_train(const ojs_client *client, ojs_slice train_id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/trains/");
    ojs_path_push(&path, train_id, false);
    ojs_path_push(&path, ojs_path_text("/advance"), true);
    return ojs_path_call(&path, client, "POST", body, out);
}

// Holds a train: a job of it that runs may end, and no further one starts until ojs_advance_train().
OJS_MUST_USE
static inline ojs_error *ojs_hold_train(const ojs_client *client, ojs_slice train_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/trains/");
    ojs_path_push(&path, train_id, false);
    ojs_path_push(&path, ojs_path_text("/hold"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// The query of ojs_list_tenants().
typedef struct {
    // The page, from 1. Integer.
    ojs_slice page;
    // The most tenants on the page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_list_tenants_query;

// The tenants of the server by id, with the number of their jobs and their limits.
OJS_MUST_USE
static inline ojs_error *ojs_list_tenants(const ojs_client *client, const ojs_list_tenants_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants");
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// A tenant with its status, its limits and the number of its jobs by state.
OJS_MUST_USE
static inline ojs_error *ojs_get_tenant(const ojs_client *client, ojs_slice tenant_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Makes a tenant, or changes what the body names of one. A job that names a new tenant makes it as well.
// The body has these members:
//   - changes: Its members: "name" (for people), "limits" (as in "PUT /admin/tenants/{id}/limits"), "fairness_weight"
//     (which leaves the other limits as they are) and "status" ("active" or "suspended").
OJS_MUST_USE
static inline ojs_error *ojs_put_tenant(const ojs_client *client, ojs_slice tenant_id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    return ojs_path_call(&path, client, "PUT", body, out);
}

// Deletes a tenant with its ended jobs. It is refused while the tenant has jobs that have not ended.
OJS_MUST_USE
static inline ojs_error *ojs_delete_tenant(const ojs_client *client, ojs_slice tenant_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Sets what a tenant may use: "max_concurrency", "max_enqueue_rate", "max_queue_depth" and "max_scheduled"; and
// "fairness_weight", its weight in shared queues. What the body leaves out is not limited any more. Jobs that have
// more than the new limits allow stay.
// The body has these members:
//   - limits: Its members: "max_concurrency" (jobs that are active at a time), "max_enqueue_rate" ("limit" jobs in
//     each "period", an ISO 8601 duration), "max_queue_depth" (jobs that wait, in all queues together),
//     "max_scheduled", and "fairness_weight" (jobs that it gets while a tenant of weight 1 gets one, in queues that
//     tenants share: 1 to 1,000); and "reason", a text for the log of the server.
OJS_MUST_USE
static inline ojs_error *ojs_set_tenant_limits(const ojs_client *client, ojs_slice tenant_id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    ojs_path_push(&path, ojs_path_text("/limits"), true);
    return ojs_path_call(&path, client, "PUT", body, out);
}

// Stops a tenant: its jobs are refused with 403, and those that wait are not handed out. Active jobs go on.
OJS_MUST_USE
static inline ojs_error *ojs_suspend_tenant(const ojs_client *client, ojs_slice tenant_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    ojs_path_push(&path, ojs_path_text("/suspend"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Ends the suspension of a tenant: its jobs are taken and handed out again.
OJS_MUST_USE
static inline ojs_error *ojs_resume_tenant(const ojs_client *client, ojs_slice tenant_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    ojs_path_push(&path, ojs_path_text("/resume"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// What a tenant has: jobs by state and queue, how much of its limits is used, and what was done so far.
OJS_MUST_USE
static inline ojs_error *ojs_tenant_stats(const ojs_client *client, ojs_slice tenant_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    ojs_path_push(&path, ojs_path_text("/stats"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_tenant_jobs().
typedef struct {
    // Only this queue.
    ojs_slice queue;
    // Only this state.
    ojs_slice state;
    // The page, from 1. Integer.
    ojs_slice page;
    // The most jobs on the page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_tenant_jobs_query;

// The jobs of a tenant, newest first; with the filters of "GET /admin/jobs".
OJS_MUST_USE
static inline ojs_error *ojs_tenant_jobs(const ojs_client *client, ojs_slice tenant_id, const ojs_tenant_jobs_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/tenants/");
    ojs_path_push(&path, tenant_id, false);
    ojs_path_push(&path, ojs_path_text("/jobs"), true);
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_noisy_tenants().
typedef struct {
    // The signal is more waiting jobs than so many times the median of the others; 10 without it. Integer.
    ojs_slice depth_factor;
    // The signal is more jobs enqueued lately than so many times the average of the others; 5 without it. Integer.
    ojs_slice rate_factor;
    // The signal is a larger share of the active jobs of all tenants, 1 to 100; 50 without it. Integer.
    ojs_slice active_percent;
    // The signal is a larger share of failed attempts than so many times that of the others; 3 without it. Integer.
    ojs_slice error_factor;
    // With fewer jobs that wait or were enqueued lately there is no signal, nor with fewer than a tenth of it that are
    // active or failed; 100 without it. Integer.
    ojs_slice min_jobs;
    // The most tenants in the answer, 1 to 1,000; 100 without it. Integer.
    ojs_slice limit;
} ojs_noisy_tenants_query;

// Tenants that use far more than the others do, those with the most signals first. Each tenant that has jobs, or had
// some in the last five minutes, is compared with the others. An item has "tenant_id", "signals", "queue_depth",
// "active", "error_rate", and jobs per minute; a signal has "signal" ("queue_depth_ratio", "enqueue_rate_ratio",
// "active_job_ratio" or "error_rate"), "value", "compared_with", "ratio" (null where the others have none) and
// "threshold". The default tenant is left out. Nothing is read of jobs.
OJS_MUST_USE
static inline ojs_error *ojs_noisy_tenants(const ojs_client *client, const ojs_noisy_tenants_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/stats/tenants/noisy");
    ojs_path_query(&path, "depth_factor", query ? query->depth_factor : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "rate_factor", query ? query->rate_factor : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "active_percent", query ? query->active_percent : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "error_factor", query ? query->error_factor : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "min_jobs", query ? query->min_jobs : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "limit", query ? query->limit : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The subscriptions, the oldest first, without their secrets. "dropped" says how many events became no delivery
// because too many deliveries waited for the subscription; "dropped_since" when the first of them happened, or null.
OJS_MUST_USE
static inline ojs_error *ojs_list_webhooks(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions");
    ojs_path_query(&path, "limit", ojs_path_text("200"), NULL);
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Creates a subscription: events are sent to "url" as signed POST requests. Only this answer has the secret. Events
// that happen from then on become deliveries, which are sent until the endpoint answers with 2xx: eight attempts
// within 41 hours. "filter" is an object with "queues" and "job_types". The URL must begin with https:// and lead to a
// public address, unless the server allows others.
// The body has these members:
//   - subscription: Its members: "url" and "events" (such as "job.completed", "job.*" or "*"); if wanted "secret" (8
//     to 255 characters; without it the server makes one), "filter", "metadata" (an object of at most 4096 bytes),
//     "active" and "format" ("ojs", "cloudevents" or "cloudevents-binary").
OJS_MUST_USE
static inline ojs_error *ojs_create_webhook(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions");
    return ojs_path_call(&path, client, "POST", body, out);
}

// A subscription, without its secret. "dropped" says how many events became no delivery because too many deliveries
// waited for it; "dropped_since" when the first of them happened, or null.
OJS_MUST_USE
static inline ojs_error *ojs_get_webhook(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Changes a subscription; what is left out stays. Deliveries that wait go to the new URL. A subscription that is not
// active gets no new deliveries, and those that wait are not sent until it is active again.
// The body has these members:
//   - changes: The members that change: "url", "events", "active", "filter", "metadata", "format".
OJS_MUST_USE
static inline ojs_error *ojs_update_webhook(const ojs_client *client, ojs_slice id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "PATCH", body, out);
}

// Deletes a subscription and its deliveries: nothing more is sent to it.
OJS_MUST_USE
static inline ojs_error *ojs_delete_webhook(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Sends an event "webhook.test" now, once, and answers with what the endpoint said: "success", "status_code",
// "response_time_ms", "response_body".
OJS_MUST_USE
static inline ojs_error *ojs_test_webhook(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions/");
    ojs_path_push(&path, id, false);
    ojs_path_push(&path, ojs_path_text("/test"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Gives a subscription a new secret. For 24 hours requests are signed with both; only this answer has the new one.
OJS_MUST_USE
static inline ojs_error *ojs_rotate_webhook_secret(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/subscriptions/");
    ojs_path_push(&path, id, false);
    ojs_path_push(&path, ojs_path_text("/rotate-secret"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// The query of ojs_list_webhook_deliveries().
typedef struct {
    // Only of this subscription.
    ojs_slice subscription_id;
    // Only in this state. One of pending, sending, delivered, dead.
    ojs_slice status;
    // The most deliveries in the answer, 1 to 200. Integer.
    ojs_slice limit;
} ojs_list_webhook_deliveries_query;

// Deliveries, the newest first, without the events that they carry. Delivered ones are kept for a day, dead ones for
// 30 days. "total" counts at most 10000.
OJS_MUST_USE
static inline ojs_error *ojs_list_webhook_deliveries(const ojs_client *client, const ojs_list_webhook_deliveries_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/deliveries");
    ojs_path_query(&path, "subscription_id", query ? query->subscription_id : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "status", query ? query->status : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "limit", query ? query->limit : ojs_path_text(NULL), "50");
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// A delivery with its event, and how its latest attempt ended.
OJS_MUST_USE
static inline ojs_error *ojs_get_webhook_delivery(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/deliveries/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Sends a delivery again now, with the same id and the attempts of a new one. It may be dead, delivered or waiting.
OJS_MUST_USE
static inline ojs_error *ojs_retry_webhook_delivery(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/webhooks/deliveries/");
    ojs_path_push(&path, id, false);
    ojs_path_push(&path, ojs_path_text("/retry"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// How far the latest attempt of a job has come: "progress" from 0 to 1, "data", "message" and "updated_at", which are
// null when nothing was reported.
OJS_MUST_USE
static inline ojs_error *ojs_get_progress(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/progress"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// How far a workflow has come: "progress" from 0 to 1, and the progress of each of its "steps". Of a chain it is the
// completed steps and the fraction of the current one, of a group the mean of its steps, of a batch the share of its
// jobs that have ended.
OJS_MUST_USE
static inline ojs_error *ojs_get_workflow_progress(const ojs_client *client, ojs_slice workflow_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/workflows/");
    ojs_path_push(&path, workflow_id, false);
    ojs_path_push(&path, ojs_path_text("/progress"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Saves the checkpoint of a job, in place of the one before. It is on disk when the request has been answered, and the
// next attempt of the job is delivered with it. The handler of a job saves its own checkpoint, under its lease. This
// method is for other programs, which have no lease: it is refused while a worker with lease tokens holds the job, and
// when the job has ended.
// The body has these members:
//   - state: JSON of at most 1 MiB.
OJS_MUST_USE
static inline ojs_error *ojs_save_checkpoint(const ojs_client *client, ojs_slice job_id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/checkpoint"), true);
    return ojs_path_call(&path, client, "PUT", body, out);
}

// The checkpoint of a job: "state", "sequence" and "created_at". It can be read as long as the job.
OJS_MUST_USE
static inline ojs_error *ojs_get_checkpoint(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/checkpoint"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Deletes the checkpoint of a job, if it has one: its next attempt begins from the start.
OJS_MUST_USE
static inline ojs_error *ojs_delete_checkpoint(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/checkpoint"), true);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// The endpoints that jobs are sent to, the oldest first, without their secrets. "status" is "active", "failing",
// "open" (sent nothing for a minute after five failures), "probing", "waiting" (it has asked for a pause), "disabled"
// (it answered 401, 403, 404 or 410) or "paused"; "last_failure" says why.
OJS_MUST_USE
static inline ojs_error *ojs_list_push_endpoints(const ojs_client *client, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints");
    ojs_path_query(&path, "limit", ojs_path_text("200"), NULL);
    ojs_path_query(&path, "pages", ojs_path_text("all"), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Registers an endpoint: jobs of its types are sent to it as signed POST requests. Only this answer has the secret. A
// job is active under a lease before it is sent, and the answer settles it. The address must begin with https:// and
// be public, unless the server allows others.
// The body has these members:
//   - endpoint: Its members: "endpoint" (the URL, or "sqs:" and the URL of a queue of Amazon SQS) and "job_types" ("*"
//     stands for any characters); if wanted "queues", "config" ("max_concurrency", "timeout_ms", "signing_secret",
//     "weight", "retry_429"), "routing", "provider" and "active".
OJS_MUST_USE
static inline ojs_error *ojs_create_push_endpoint(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints");
    return ojs_path_call(&path, client, "POST", body, out);
}

// An endpoint, without its secret.
OJS_MUST_USE
static inline ojs_error *ojs_get_push_endpoint(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Changes an endpoint; what is left out stays. One that failures have closed or disabled is sent jobs again. With
// "active" false it is sent nothing; its jobs stay available for workers that fetch.
// The body has these members:
//   - changes: The members that change: "endpoint", "job_types", "queues", "config", "routing", "provider", "active".
OJS_MUST_USE
static inline ojs_error *ojs_update_push_endpoint(const ojs_client *client, ojs_slice id, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "PATCH", body, out);
}

// Deletes an endpoint. Deliveries that are under way are settled; its other jobs stay available.
OJS_MUST_USE
static inline ojs_error *ojs_delete_push_endpoint(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints/");
    ojs_path_push(&path, id, false);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// Sends a job of the type "push.test" now, once, and explains the answer: "success", "outcome", "explanation",
// "status_code", "response_time_ms", "response_body".
OJS_MUST_USE
static inline ojs_error *ojs_test_push_endpoint(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints/");
    ojs_path_push(&path, id, false);
    ojs_path_push(&path, ojs_path_text("/test"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Gives an endpoint a new secret. For 24 hours requests are signed with both; only this answer has the new one.
OJS_MUST_USE
static inline ojs_error *ojs_rotate_push_secret(const ojs_client *client, ojs_slice id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/push/endpoints/");
    ojs_path_push(&path, id, false);
    ojs_path_push(&path, ojs_path_text("/rotate-secret"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// The query of ojs_get_history().
typedef struct {
    // The most events in the answer, 1 to 1,000; 50 without it. Integer.
    ojs_slice limit;
    // The "next_cursor" of the page before.
    ojs_slice cursor;
} ojs_get_history_query;

// What happened to a job: its events, the oldest first, and its attempts with worker, wait, duration and error. It is
// read from the job and from the event log, so it is there for as long as the job. "fingerprint" of a failed attempt
// is the same for errors that differ only in numbers, ids and quoted text. The history of a job has at most the newest
// 50 failures.
OJS_MUST_USE
static inline ojs_error *ojs_get_history(const ojs_client *client, ojs_slice job_id, const ojs_get_history_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/history"), true);
    ojs_path_query(&path, "limit", query ? query->limit : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "cursor", query ? query->cursor : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The workflow that a job is part of, with all its steps as a "tree"; a job without a workflow is a tree of its own.
// "root_id" is the outermost workflow. "parent_id" and "root_id" of a job without a workflow are what its client has
// sent under these names. A tree has at most 1,000 nodes; "truncated" says that there are more.
OJS_MUST_USE
static inline ojs_error *ojs_get_lineage(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/lineage"), true);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Deletes the history of a job: what happened up to now is not shown any more. The job stays as it is. The errors and
// the result of the job are parts of the job: they go when the job is deleted.
OJS_MUST_USE
static inline ojs_error *ojs_delete_history(const ojs_client *client, ojs_slice job_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/jobs/");
    ojs_path_push(&path, job_id, false);
    ojs_path_push(&path, ojs_path_text("/history"), true);
    return ojs_path_call(&path, client, "DELETE", ojs_path_text(NULL), out);
}

// The query of ojs_history_stats().
typedef struct {
    // From this time on; without it an hour, a day or a month back. A time, RFC 3339.
    ojs_slice since;
    // Before this time. A time, RFC 3339.
    ojs_slice before;
    // Only events of jobs of these queues, with commas between them.
    ojs_slice queues;
    // The length of each period; "hour" without it. One of minute, hour, day.
    ojs_slice group_by;
} ojs_history_stats_query;

// How many events happened in each minute, hour or day, with average and 95th percentile of the durations, the oldest
// first. Periods in which nothing happened are left out. Figures are kept for a day by minutes and for a month by
// hours. Durations come from classes, so they are off by 10 % at most. Figures are kept by queue, not by job type:
// "job_types" is answered with 501.
OJS_MUST_USE
static inline ojs_error *ojs_history_stats(const ojs_client *client, const ojs_history_stats_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/history/stats");
    ojs_path_query(&path, "start", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "end", query ? query->before : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "queues", query ? query->queues : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "group_by", query ? query->group_by : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_list_error_groups().
typedef struct {
    // Only failures of jobs of this queue.
    ojs_slice queue;
    // Only this job type; "email.*" is all types that start with "email.".
    ojs_slice job_type;
    // Only errors of this type.
    ojs_slice error_type;
    // Only failures of jobs of this tenant.
    ojs_slice tenant;
    // Only groups with a failure at this time or later. A time, RFC 3339.
    ojs_slice since;
    // What comes first: "last_seen_at" (the default), "first_seen_at" or "count", the latest or the largest.
    ojs_slice sort;
    // The page, from 1. Integer.
    ojs_slice page;
    // The most groups on the page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_list_error_groups_query;

// Failed attempts put together by their fingerprint, which is the same for errors that differ only in ids, numbers and
// quoted text. A group has "fingerprint", "error_type", "message" (the last one), "count", "first_seen_at",
// "last_seen_at", "queues", "types" and "job_ids", the newest jobs of each queue and type, 50 at most. The server
// keeps the 2,000 groups of a queue and type that failed last, for 30 days after their last failure. Failures of the
// last five seconds before a crash may be missing.
OJS_MUST_USE
static inline ojs_error *ojs_list_error_groups(const ojs_client *client, const ojs_list_error_groups_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/errors");
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "type", query ? query->job_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "error_type", query ? query->error_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "tenant", query ? query->tenant : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "since", query ? query->since : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "sort", query ? query->sort : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_get_error_group().
typedef struct {
    // Only failures of jobs of this queue.
    ojs_slice queue;
    // Only this job type.
    ojs_slice job_type;
    // Only failures of jobs of this tenant.
    ojs_slice tenant;
} ojs_get_error_group_query;

// One group of errors, with its "places" (the failures by queue and type) and those of its "jobs" that there still
// are.
OJS_MUST_USE
static inline ojs_error *ojs_get_error_group(const ojs_client *client, ojs_slice fingerprint, const ojs_get_error_group_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/errors/");
    ojs_path_push(&path, fingerprint, false);
    ojs_path_query(&path, "queue", query ? query->queue : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "type", query ? query->job_type : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "tenant", query ? query->tenant : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Begins to retry, cancel or delete all jobs that a filter finds, and answers at once with the operation. The server
// carries it out in slices of 500 jobs, each in a transaction of its own that also keeps the place which the operation
// has reached: after a crash it goes on there, on any node. Jobs that were enqueued or have ended since the request
// are not meant. Those that cannot be changed are counted by reason. With "dry_run" nothing is changed: the answer has
// "matched", the number of jobs ("relation" is "eq", "about" or "gte"; at most 50,000 rows are looked at), the numbers
// by state, queue and type, and a "sample". To delete needs the permission to administer. At most 100 operations of a
// tenant, and 100 of operators, may be under way.
// The body has "confirm":true, and these members:
//   - action: "retry", "cancel" or "delete".
//   - filter: Which jobs: "queue", "type", "state" (one or a list), "since", "until", "priority", "meta", "error_type"
//     (of the latest error), "dead_letters" (true: only dead letters) and "q" (a search, as lists of jobs have it). An
//     empty one means all that the action can reach.
//   - reason: Why, at most 500 characters; it is kept with the operation.
//   - dry_run: Say what would be found, and change nothing. Boolean.
OJS_MUST_USE
static inline ojs_error *ojs_start_bulk_operation(const ojs_client *client, ojs_slice body, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/bulk");
    return ojs_path_call(&path, client, "POST", body, out);
}

// The query of ojs_list_bulk_operations().
typedef struct {
    // Only those in this state: "running", "paused", "completed", "cancelled" or "failed".
    ojs_slice state;
    // Only those before this one: the id of the last one on the page before.
    ojs_slice cursor;
    // The most on the page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_list_bulk_operations_query;

// Bulk operations, the newest first. They are kept for 30 days after their end, and the last 1,000 of them.
OJS_MUST_USE
static inline ojs_error *ojs_list_bulk_operations(const ojs_client *client, const ojs_list_bulk_operations_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/bulk");
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "cursor", query ? query->cursor : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// The query of ojs_get_bulk_operation().
typedef struct {
    // Answer as soon as it does not run any more, at the latest after so many milliseconds: 60,000 at most. Integer.
    ojs_slice wait_ms;
} ojs_get_bulk_operation_query;

// A bulk operation: its state, how far it is, how many jobs were changed, and how many were refused and why. "counts"
// has "seen", "changed" and "refused"; "refusals" has "count", the first "job_id" and its "message" for each "reason";
// "progress" has the number of jobs that is "expected" and the "fraction" that is done, where it can be said.
OJS_MUST_USE
static inline ojs_error *ojs_get_bulk_operation(const ojs_client *client, ojs_slice operation_id, const ojs_get_bulk_operation_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/bulk/");
    ojs_path_push(&path, operation_id, false);
    ojs_path_query(&path, "wait_ms", query ? query->wait_ms : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

// Stops a bulk operation until it is resumed. The slice that is under way is finished.
OJS_MUST_USE
static inline ojs_error *ojs_pause_bulk_operation(const ojs_client *client, ojs_slice operation_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/bulk/");
    ojs_path_push(&path, operation_id, false);
    ojs_path_push(&path, ojs_path_text("/pause"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Goes on with a bulk operation that was paused, or that has failed, where it stopped.
OJS_MUST_USE
static inline ojs_error *ojs_resume_bulk_operation(const ojs_client *client, ojs_slice operation_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/bulk/");
    ojs_path_push(&path, operation_id, false);
    ojs_path_push(&path, ojs_path_text("/resume"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// Ends a bulk operation for good. Jobs that it has changed stay changed.
OJS_MUST_USE
static inline ojs_error *ojs_cancel_bulk_operation(const ojs_client *client, ojs_slice operation_id, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/bulk/");
    ojs_path_push(&path, operation_id, false);
    ojs_path_push(&path, ojs_path_text("/cancel"), true);
    return ojs_path_call(&path, client, "POST", ojs_path_text("{}"), out);
}

// The query of ojs_list_relays().
typedef struct {
    // Only relays in this state: "running", "stuck" or "silent".
    ojs_slice state;
    // The page, from 1. Integer.
    ojs_slice page;
    // The most relays on the page, 1 to 100; 20 without it. Integer.
    ojs_slice per_page;
} ojs_list_relays_query;

// The relays that send rows of outboxes to this server, with what each of them said last. An item has "id", "name",
// "tenant_id", "database" (its kind), "outbox" (the table), "state" ("running"; "stuck" while a row has waited for
// more than a minute; "silent" after 20 seconds without a heartbeat), "leading" (whether it is the one that sends),
// "waiting" (rows, with "waiting_relation": "gte" when there are more than were counted), "oldest_waiting_ms",
// "parked" (rows that the server has refused for good), "sent" since its start, "sent_per_minute", "error" (what holds
// it up), "first_heartbeat_at" and "last_heartbeat_at". "summary" counts the relays by state. A relay that stops is
// forgotten at once, a silent one after 15 minutes. At most 200 of a tenant are kept, and 1,000 in all.
OJS_MUST_USE
static inline ojs_error *ojs_list_relays(const ojs_client *client, const ojs_list_relays_query *query, ojs_buf **out) {
    ojs_path path = ojs_path_begin("/admin/relays");
    ojs_path_query(&path, "state", query ? query->state : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "page", query ? query->page : ojs_path_text(NULL), NULL);
    ojs_path_query(&path, "per_page", query ? query->per_page : ojs_path_text(NULL), NULL);
    return ojs_path_call(&path, client, "GET", ojs_path_text(NULL), out);
}

#endif
