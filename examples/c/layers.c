// A layer around enqueues, one around handlers, the trace that goes through both, and the events of the job:
//
//     cc layers.c $(pkg-config --cflags --libs ojs) -o layers && ./layers sqlite:jobs.db
#include <ojs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ojs_slice text(const char *string) {
    ojs_slice slice = {(const uint8_t *)string, strlen(string)};
    return slice;
}

static void must(ojs_error *error) {
    if (error == NULL) return;
    ojs_slice message = ojs_error_message(error);
    fprintf(stderr, "layers: %.*s\n", (int)message.len, (const char *)message.ptr);
    exit(1);
}

// Around every enqueue of the client: the job says which program made it. What next gives goes on outwards by `job`.
static ojs_error *origin(void *user_data, ojs_slice request, const ojs_enqueue_next *next, ojs_buf **job) {
    (void)user_data;
    ojs_buf *changed;
    must(ojs_request_with_meta(request, text("{\"origin\":\"shop\"}"), true, &changed));
    ojs_error *error = ojs_enqueue_next_run(next, ojs_buf_slice(changed), job);
    ojs_buf_free(changed);
    return error;
}

// Around every handler of the worker: says how the job ended.
static void report(void *user_data, const ojs_job *job, const ojs_answer *answer, const ojs_handler_next *next) {
    (void)user_data;
    must(ojs_handler_next_run(next, job));
    uint32_t kind;
    must(ojs_answer_outcome(answer, &kind, NULL));
    printf("%.*s %s\n", (int)job->job_type.len, (const char *)job->job_type.ptr, kind == 0 ? "done" : "not done");
}

static void send_email(void *worker, const ojs_job *job, const ojs_answer *answer) {
    printf("%.*s\n", (int)job->envelope.len, (const char *)job->envelope.ptr); // its meta has origin and traceparent
    must(ojs_answer_result(answer, text("{\"sent\":true}")));
    must(ojs_worker_stop((const ojs_worker *)worker, -1));
}

int main(int count, char **arguments) {
    ojs_client *client;
    ojs_worker *worker;
    ojs_events *events;
    must(ojs_client_new(text(count > 1 ? arguments[1] : "memory:"), NULL, &client));
    must(ojs_client_add_layer(client, text("origin"), OJS_LAYER_INNERMOST, text(""), origin, NULL, NULL));
    must(ojs_client_add_layer(client, text("context"), OJS_LAYER_OUTERMOST, text(""), ojs_context_carry, NULL, NULL));
    // What the request that this thread answers hands on to its jobs, until it is over.
    must(ojs_context_set(text("{\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"}")));
    must(ojs_client_enqueue(client, text("email.send"), text("[\"ada@example.com\"]"), text("{}"), NULL));
    must(ojs_context_set(text("")));

    must(ojs_worker_new(client, NULL, &worker));
    must(ojs_worker_add_layer(worker, text("report"), OJS_LAYER_INNERMOST, text(""), report, NULL, NULL));
    must(ojs_worker_add_layer(worker, text("context"), OJS_LAYER_OUTERMOST, text(""), ojs_context_restore, NULL, NULL));
    must(ojs_worker_run(worker, 1, send_email, worker, NULL));
    ojs_worker_free(worker);

    must(ojs_events_new(client, text("{\"types\":[\"job.*\"],\"after\":\"\"}"), &events));
    for (int seen = 0; seen < 3; seen++) {
        ojs_buf *event;
        must(ojs_events_next(events, 5000, &event)); // NULL when nothing happens for so long
        if (event == NULL) break;
        printf("%.*s\n", (int)ojs_buf_slice(event).len, (const char *)ojs_buf_slice(event).ptr);
        ojs_buf_free(event);
    }
    ojs_events_free(events);
    ojs_client_free(client);
    return 0;
}
